insert into sluice_tpch.region
select n, name, sluice_tpch.sentence(n, 10)
from unnest('{AFRICA,AMERICA,ASIA,EUROPE,OCEANIA}'::text[]) with ordinality as names (name, nth),
    lateral (select (nth - 1)::int as n) as numbered;

-- Five nations in each region, in turn: id % 5 is the region.
insert into sluice_tpch.nation
select n, name, n % 5, sluice_tpch.sentence(n, 20)
from unnest('{KENYA,BRAZIL,INDIA,FRANCE,FIJI,
              EGYPT,CANADA,JAPAN,SPAIN,SAMOA,
              GHANA,PERU,CHINA,POLAND,TONGA,
              MALI,CHILE,NEPAL,SWEDEN,NAURU,
              ZAMBIA,CUBA,OMAN,GREECE,PALAU}'::text[]) with ordinality as names (name, nth),
    lateral (select (nth - 1)::int as n) as numbered;

-- Nations in turn, so that none is without suppliers from a scale of 0.0025 on. Five of ten thousand have complaints on record.
insert into sluice_tpch.supplier
select n, 'Supplier ' || to_char(n, 'FM000000000'), sluice_tpch.address(n, 100), (n - 1) % 25, sluice_tpch.phone(n, 110, (n - 1) % 25),
    sluice_tpch.draw(n, 120, -99999, 999999) / 100.0,
    sluice_tpch.sentence(n, 130)
        || case n % 2000 when 7 then ' Customer reports of Complaints ' when 11 then ' Customer sends Compliments ' else ' ' end
        || sluice_tpch.sentence(n, 140)
from sluice_tpch.generated, generate_series(1, suppliers) as n;

insert into sluice_tpch.customer
select n, 'Customer ' || to_char(n, 'FM000000000'), sluice_tpch.address(n, 200), nation, sluice_tpch.phone(n, 210, nation),
    sluice_tpch.draw(n, 220, -99999, 999999) / 100.0,
    sluice_tpch.pick(n, 221, '{FARMING,HOUSEHOLD,INDUSTRY,TRANSPORT,BUILDING}'),
    sluice_tpch.sentence(n, 230) || ' ' || sluice_tpch.sentence(n, 240)
from sluice_tpch.generated, generate_series(1, customers) as n,
    lateral (select sluice_tpch.draw(n, 222, 0, 24)::int as nation) as home;

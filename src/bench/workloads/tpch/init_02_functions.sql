-- Hashes as dice. `stream` tells the throws for one key apart; each use below has one of its own.

-- A whole number from low to high, each as likely as the others.
create function sluice_tpch.draw(key bigint, stream bigint, low bigint, high bigint) returns bigint
language sql immutable parallel safe as $$
    select low + (hashint8extended(key, stream) & 9223372036854775807) % (high - low + 1)
$$;

create function sluice_tpch.pick(key bigint, stream bigint, list text[]) returns text
language sql immutable parallel safe as $$
    select list[sluice_tpch.draw(key, stream, 1, cardinality(list))]
$$;

-- Four words such as "quietly pending invoices wait". Sixteen adjectives and twelve nouns: a given pair, in this order and with anything
-- between, is in one of 192 sentences, and in about one of 64 that consist of two of them.
create function sluice_tpch.sentence(key bigint, stream bigint) returns text
language sql immutable parallel safe as $$
    select sluice_tpch.pick(key, stream, '{quietly,seldom,always,daily,slowly,rarely,briskly,gladly,barely,closely}')
        || ' ' || sluice_tpch.pick(key, stream + 1, '{pending,special,unusual,express,final,regular,bold,silent,even,ironic,careful,hidden,early,late,thin,round}')
        || ' ' || sluice_tpch.pick(key, stream + 2, '{parcels,requests,accounts,deposits,invoices,ledgers,samples,crates,letters,quotes,refunds,claims}')
        || ' ' || sluice_tpch.pick(key, stream + 3, '{wait,move,sleep,travel,gather,vanish,return,grow,shrink,settle,wander}')
$$;

-- So many characters of such sentences. None is shorter than 22, so that with the space behind it each gives 23 at least.
create function sluice_tpch.sentences(key bigint, stream bigint, length int) returns text
language sql immutable parallel safe as $$
    select left(string_agg(sluice_tpch.sentence(key, stream + 4 * nth), ' ' order by nth), length)
    from generate_series(0, length / 23) as nth
$$;

-- The four suppliers of a part, nth from 0 to 3: each from a quarter of its own of all suppliers, counted from a place that the part chooses.
create function sluice_tpch.supplier_of(part bigint, nth int, suppliers int) returns int
language sql immutable parallel safe as $$
    select (1 + (sluice_tpch.draw(part, 300, 0, suppliers - 1) + nth * (suppliers / 4)
                 + sluice_tpch.draw(part, 301 + nth, 0, suppliers / 4 - 1)) % suppliers)::int
$$;

create function sluice_tpch.part_price(part bigint) returns numeric
language sql immutable parallel safe as $$
    select 900 + part % 1000 + round((part / 7) % 20000 / 100.0, 2)
$$;

-- Eight of every thirty-two ids are used.
create function sluice_tpch.order_id(nth bigint) returns bigint
language sql immutable parallel safe as $$
    select (nth - 1) / 8 * 32 + (nth - 1) % 8 + 1
$$;

-- So that everything has been received by the end of 2024.
create function sluice_tpch.order_date(nth bigint) returns date
language sql immutable parallel safe as $$
    select date '2018-01-01' + sluice_tpch.draw(nth, 500, 0, date '2024-08-02' - date '2018-01-01')::int
$$;

-- Country code 10 to 34 by nation, then ten digits.
create function sluice_tpch.phone(key bigint, stream bigint, nation int) returns text
language sql immutable parallel safe as $$
    select (nation + 10)::text || '-' || sluice_tpch.draw(key, stream, 100, 999)
        || '-' || sluice_tpch.draw(key, stream + 1, 100, 999) || '-' || sluice_tpch.draw(key, stream + 2, 1000, 9999)
$$;

create function sluice_tpch.address(key bigint, stream bigint) returns text
language sql immutable parallel safe as $$
    select sluice_tpch.draw(key, stream, 1, 999) || ' '
        || sluice_tpch.pick(key, stream + 1, '{Mill,Harbour,Station,Church,Market,Bridge,Forest,Garden,Orchard,Quarry,Castle,River}') || ' '
        || sluice_tpch.pick(key, stream + 2, '{Road,Lane,Street,Row,Square,Hill}')
$$;

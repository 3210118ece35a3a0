with law as (
  select sluice_pareto.size(0, :scale) as least, sluice_pareto.size(0.999999, :scale) as greatest
)
select 'smallest size' as name, greatest(1, round(4000 * :scale))::text as expected, least::text as found, least = greatest(1, round(4000 * :scale)) as ok from law
union all
select 'largest size', 'above ' || round(2000000 * :scale)::text, greatest::text,
       greatest > 2000000 * :scale and greatest <= greatest(1, round(4000000 * :scale)) from law
union all
select 'work of three steps', '18360', sluice_pareto.work(3)::text, sluice_pareto.work(3) = 18360

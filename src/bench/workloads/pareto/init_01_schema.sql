-- CPU work of heavy-tailed size. There is no data: a query's size is all there is to it.
drop schema if exists sluice_pareto cascade;
create schema sluice_pareto;
grant usage on schema sluice_pareto to public;

-- n times the same small computation. Volatile, so that no plan computes it beforehand; never in parallel.
create function sluice_pareto.work(n bigint) returns integer
language plpgsql volatile parallel unsafe as $$
declare
  state integer := 1;
begin
  for i in 1..n loop
    state := (state * 16807 + 7) % 32749;
  end loop;
  return state;
end
$$;

-- The u-quantile, 0 <= u < 1, of the bounded Pareto law with tail 1.1 from 4000 * scale steps to a thousand times that.
create function sluice_pareto.size(u double precision, scale double precision) returns bigint
language sql immutable parallel safe as $$
  select greatest(1, round(4000 * scale * (1 - u * (1 - 1000 ^ (-1.1))) ^ (-1 / 1.1)))::bigint
$$;

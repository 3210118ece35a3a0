\set u random(0, 999999)
select sluice_pareto.work(sluice_pareto.size(:u::integer / 1e6, :scale))

-- One statement, since VACUUM takes no company. Frozen rows are visible to all, so that standbys need not look it up for each.
vacuum (freeze, analyze) sluice_tpch.region, sluice_tpch.nation, sluice_tpch.supplier, sluice_tpch.customer,
    sluice_tpch.part, sluice_tpch.partsupp, sluice_tpch.orders, sluice_tpch.lineitem, sluice_tpch.generated;

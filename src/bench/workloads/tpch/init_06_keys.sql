alter table sluice_tpch.region add primary key (id);
alter table sluice_tpch.nation add primary key (id);
alter table sluice_tpch.supplier add primary key (id);
alter table sluice_tpch.customer add primary key (id);
alter table sluice_tpch.part add primary key (id);
alter table sluice_tpch.partsupp add primary key (part_id, supplier_id);
alter table sluice_tpch.orders add primary key (id);
alter table sluice_tpch.lineitem add primary key (order_id, line);

create index on sluice_tpch.supplier (nation_id);
create index on sluice_tpch.customer (nation_id);
create index on sluice_tpch.partsupp (supplier_id);
create index on sluice_tpch.orders (customer_id);
create index on sluice_tpch.orders (ordered);
create index on sluice_tpch.lineitem (part_id, supplier_id);
create index on sluice_tpch.lineitem (supplier_id);
create index on sluice_tpch.lineitem (shipped);

alter table sluice_tpch.nation add foreign key (region_id) references sluice_tpch.region;
alter table sluice_tpch.supplier add foreign key (nation_id) references sluice_tpch.nation;
alter table sluice_tpch.customer add foreign key (nation_id) references sluice_tpch.nation;
alter table sluice_tpch.partsupp add foreign key (part_id) references sluice_tpch.part;
alter table sluice_tpch.partsupp add foreign key (supplier_id) references sluice_tpch.supplier;
alter table sluice_tpch.orders add foreign key (customer_id) references sluice_tpch.customer;
alter table sluice_tpch.lineitem add foreign key (order_id) references sluice_tpch.orders;
alter table sluice_tpch.lineitem add foreign key (part_id, supplier_id) references sluice_tpch.partsupp;

-- Eight tables of a trading company, the functions that make their rows, and the scale they are made at.
-- Every value follows from its row's key by a hash, so that the data is the same on every server.
drop schema if exists sluice_tpch cascade;
create schema sluice_tpch;
grant usage on schema sluice_tpch to public;

-- How many rows there are of what does not follow from something else. check.sql compares with these.
create table sluice_tpch.generated (
    scale numeric not null check (scale >= 0.001),
    suppliers int not null,
    customers int not null,
    parts int not null,
    orders int not null
);
insert into sluice_tpch.generated
select s, round(10000 * s), round(150000 * s), round(200000 * s), 10 * round(150000 * s)
from (values (:scale::numeric)) as given (s);

create table sluice_tpch.region (
    id int not null,
    name text not null,
    comment text not null
);

create table sluice_tpch.nation (
    id int not null,
    name text not null,
    region_id int not null,
    comment text not null
);

create table sluice_tpch.supplier (
    id int not null,
    name text not null,
    address text not null,
    nation_id int not null,
    phone text not null,
    balance numeric(12, 2) not null,
    comment text not null
);

create table sluice_tpch.customer (
    id int not null,
    name text not null,
    address text not null,
    nation_id int not null,
    phone text not null,
    balance numeric(12, 2) not null,
    segment text not null,
    comment text not null
);

create table sluice_tpch.part (
    id int not null,
    name text not null,
    maker text not null,
    brand text not null,
    type text not null,
    size int not null,
    container text not null,
    price numeric(12, 2) not null,
    comment text not null
);

create table sluice_tpch.partsupp (
    part_id int not null,
    supplier_id int not null,
    available int not null,
    cost numeric(12, 2) not null,
    comment text not null
);

create table sluice_tpch.orders (
    id bigint not null,
    customer_id int not null,
    status char(1) not null,
    total numeric(12, 2) not null,
    ordered date not null,
    priority text not null,
    clerk text not null,
    ship_priority int not null,
    comment text not null
);

create table sluice_tpch.lineitem (
    order_id bigint not null,
    line int not null,
    part_id int not null,
    supplier_id int not null,
    quantity numeric(12, 2) not null,
    price numeric(12, 2) not null,
    discount numeric(12, 2) not null,
    tax numeric(12, 2) not null,
    return_flag char(1) not null,
    status char(1) not null,
    shipped date not null,
    committed date not null,
    received date not null,
    instruction text not null,
    mode text not null,
    comment text not null
);

grant select on all tables in schema sluice_tpch to public;

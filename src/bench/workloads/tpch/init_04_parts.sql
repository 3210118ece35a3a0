-- A name is five different colours of 92, a stride apart that has no divisor in common with 92.
insert into sluice_tpch.part
select n, colour[1 + first] || ' ' || colour[1 + (first + stride) % 92] || ' ' || colour[1 + (first + 2 * stride) % 92]
        || ' ' || colour[1 + (first + 3 * stride) % 92] || ' ' || colour[1 + (first + 4 * stride) % 92],
    'Maker#' || maker, 'Brand#' || maker || sluice_tpch.draw(n, 311, 1, 5),
    sluice_tpch.pick(n, 312, '{ECONOMY,STANDARD,PROMO,LARGE,MEDIUM,SMALL}')
        || ' ' || sluice_tpch.pick(n, 313, '{POLISHED,BRUSHED,PAINTED,PLATED,RAW}')
        || ' ' || sluice_tpch.pick(n, 314, '{BRASS,COPPER,NICKEL,STEEL,TIN}'),
    sluice_tpch.draw(n, 315, 1, 50),
    sluice_tpch.pick(n, 316, '{SMALL,MEDIUM,LARGE,JUMBO,WRAPPED}') || ' ' || sluice_tpch.pick(n, 317, '{BAG,BOX,CAN,CASE,DRUM,JAR,PACK,SACK}'),
    sluice_tpch.part_price(n),
    sluice_tpch.sentence(n, 320)
from sluice_tpch.generated, generate_series(1, parts) as n,
    lateral (select '{almond,amber,apricot,aqua,ash,azure,beige,berry,bisque,black,blue,blush,brick,bronze,brown,burgundy,cherry,chestnut,chrome,cinnamon,
                      clay,cobalt,copper,coral,cornflower,cream,crimson,cyan,denim,drab,ebony,emerald,fawn,fern,flame,forest,fuchsia,gold,grape,green,
                      grey,hazel,honey,indigo,ivory,jade,khaki,lavender,lemon,lilac,lime,linen,magenta,mahogany,maroon,mauve,midnight,mint,moss,mustard,
                      navy,ochre,olive,orange,orchid,peach,pearl,pink,plum,powder,puce,purple,red,rose,ruby,russet,rust,saffron,salmon,sand,
                      scarlet,sepia,sienna,silver,sky,slate,snow,tan,teal,thistle,tomato,violet}'::text[] as colour) as colours,
    lateral (select sluice_tpch.draw(n, 318, 0, 91)::int as first,
                    ('{1,3,5,7,9,11,13,15,17,19,21,25,27,29,31,33,35,37,39,41,43,45}'::int[])[sluice_tpch.draw(n, 319, 1, 22)] as stride,
                    sluice_tpch.draw(n, 310, 1, 5) as maker) as drawn;

insert into sluice_tpch.partsupp
select n, sluice_tpch.supplier_of(n, nth, suppliers), sluice_tpch.draw(4 * n + nth, 400, 1, 9999),
    sluice_tpch.draw(4 * n + nth, 401, 100, 100000) / 100.0,
    sluice_tpch.sentences(4 * n + nth, 410, sluice_tpch.draw(4 * n + nth, 402, 49, 198)::int)
from sluice_tpch.generated, generate_series(1, parts) as n, generate_series(0, 3) as nth;

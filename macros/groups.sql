{#-
Java's String.hashCode of a text, as an int: over the units of UTF-16, so that a character beyond the Basic Multilingual
Plane counts as two. Kept within 32 bits without an overflow, which ANSI mode would refuse.
-#}
{% macro java_hash(text) -%}
    cast(
        case
            when {{ text }} = '' then 0
            else aggregate(
                sequence(0, cast(octet_length(encode({{ text }}, 'UTF-16BE')) / 2 as int) - 1),
                cast(0 as bigint),
                (total, position) -> (
                    total * 31
                    + cast(
                        conv(substring(hex(encode({{ text }}, 'UTF-16BE')), position * 4 + 1, 4), 16, 10)
                        as bigint
                    )
                ) % 4294967296,
                total -> if(total >= 2147483648, total - 4294967296, total)
            )
        end
        as int
    )
{%- endmacro %}


{#-
Partition of __consumer_offsets that holds a group: the absolute hash modulo the count of partitions. Kafka's own `abs` gives
0 for the smallest int (0.8.2 and later; 0.8.1 cut the sign bit off, but had no coordinator).
-#}
{% macro offsets_partition(group_id, partitions) -%}
    cast(
        case
            when {{ java_hash(group_id) }} = -2147483648 then 0
            else abs({{ java_hash(group_id) }}) % {{ partitions }}
        end
        as int
    )
{%- endmacro %}


{#-
Broker behind the number that a client prints of a coordinator. To get a separate connection, clients up to 4.3 take
2147483647 minus the broker's id; from 4.4 they keep the id and print a plus sign before it. The newer consumer (KIP-848)
prints the id itself where it finds the coordinator, in all releases.
-#}
{% macro coordinator_of_node(number) -%}
    if({{ number }} > 1073741823, 2147483647 - {{ number }}, {{ number }})
{%- endmacro %}


{#-
Group of an old consumer, whose id is `<group>_<consumer.id>` or `<group>_<host>-<millis>-<8 hex>`:
the part before the last underscore, because host names have none.
-#}
{% macro group_of_member(member_id) -%}
    left(
        {{ member_id }},
        greatest(0, length({{ member_id }}) - length(substring_index({{ member_id }}, '_', -1)) - 1)
    )
{%- endmacro %}

select
    topics.cluster_id,
    topics.topic_name,
    topics.owner,
    count(distinct facts.partition_key) as partitions,
    count(*) as facts
from {{ ref('bridge_incident_facts') }} as facts
inner join {{ ref('dim_topics') }} as topics
    on facts.topic_key = topics.topic_key
where {{ question_filter(cluster='topics.cluster_id', key='facts.incident_key') }}
group by topics.cluster_id, topics.topic_name, topics.owner
order by facts desc, topics.cluster_id asc, topics.topic_name asc

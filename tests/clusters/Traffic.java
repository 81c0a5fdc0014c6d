import java.io.PrintStream;
import java.nio.file.*;
import java.time.Duration;
import java.util.*;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;

/** Clients of a cluster of the lab, as threads of one process: a producer, two consumers of a group, and a poller that writes what the cluster says of itself. */
public class Traffic {
    static final String STRING = "org.apache.kafka.common.serialization.String";
    static volatile boolean going = true;

    static Properties properties(String servers, String... more) {
        Properties all = new Properties();
        all.put("bootstrap.servers", servers);
        for (int i = 0; i < more.length; i += 2) all.put(more[i], more[i + 1]);
        return all;
    }

    interface Work { void run() throws Exception; }

    static Thread thread(Work work) {
        Thread thread = new Thread(() -> {
            while (going) {
                try { work.run(); } catch (Exception e) { if (going) System.out.println(System.currentTimeMillis() + " " + e); pause(1000); }
            }
        });
        thread.start();
        return thread;
    }

    static void pause(long ms) { try { Thread.sleep(ms); } catch (InterruptedException e) { going = false; } }

    /** SERVERS TOPICS GROUP FOLDER: until the process is told to stop. */
    public static void main(String[] a) throws Exception {
        String servers = a[0], group = a[2];
        String[] topics = a[1].split(",");
        Path folder = Path.of(a[3]);
        List<Thread> threads = new ArrayList<>();
        threads.add(thread(() -> produce(servers, topics)));
        for (String name : List.of("billing-1", "billing-2")) threads.add(thread(() -> consume(servers, group, name)));
        threads.add(thread(() -> poll(servers, folder)));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            going = false;
            for (Thread thread : threads) try { thread.join(5000); } catch (InterruptedException e) { return; }
        }));
    }

    static void produce(String servers, String[] topics) throws Exception {
        Properties given = properties(servers, "key.serializer", STRING + "Serializer", "value.serializer", STRING + "Serializer", "client.id", "shop",
            "delivery.timeout.ms", "20000", "request.timeout.ms", "5000");
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(given)) {
            for (int n = 0; going; n++) {
                producer.send(new ProducerRecord<>(topics[n % topics.length], "k" + n % 97, "value " + n), (where, e) -> {
                    if (e != null && going) System.out.println(System.currentTimeMillis() + " " + e);
                });
                pause(40);
            }
        }
    }

    static void consume(String servers, String group, String name) throws Exception {
        Properties given = properties(servers, "key.deserializer", STRING + "Deserializer", "value.deserializer", STRING + "Deserializer", "client.id", name,
            "group.id", group, "auto.offset.reset", "earliest", "session.timeout.ms", "10000", "auto.commit.interval.ms", "2000");
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(given)) {
            consumer.subscribe(List.of("orders"));
            while (going) consumer.poll(Duration.ofMillis(500));
        }
    }

    /** Lines of `leaders-seen.jsonl` and `quorum-seen.jsonl`, every two seconds, each written only when it differs from the one before. */
    static void poll(String servers, Path folder) throws Exception {
        Map<String, String> said = new HashMap<>();
        OpenOption[] more = {StandardOpenOption.CREATE, StandardOpenOption.APPEND};
        try (Admin admin = Admin.create(properties(servers, "client.id", "watcher", "request.timeout.ms", "3000", "default.api.timeout.ms", "6000"));
             PrintStream leaders = new PrintStream(Files.newOutputStream(folder.resolve("leaders-seen.jsonl"), more), true);
             PrintStream quorum = new PrintStream(Files.newOutputStream(folder.resolve("quorum-seen.jsonl"), more), true)) {
            while (going) {
                long at = System.currentTimeMillis();
                Set<String> names = admin.listTopics(new ListTopicsOptions().listInternal(true)).names().get();
                for (TopicDescription topic : admin.describeTopics(names).allTopicNames().get().values())
                    for (TopicPartitionInfo one : topic.partitions()) {
                        String state = String.format("\"type\": \"partition\", \"topic\": \"%s\", \"topic_id\": \"%s\", \"partition\": %d, \"leader\": %d, \"replicas\": %s, \"isr\": %s",
                            topic.name(), topic.topicId(), one.partition(), one.leader() == null || one.leader().isEmpty() ? -1 : one.leader().id(), ids(one.replicas()), ids(one.isr()));
                        if (!state.equals(said.put(topic.name() + "-" + one.partition(), state)))
                            leaders.printf("{\"ts\": %d, \"ts_end\": %d, %s}%n", at, System.currentTimeMillis(), state);
                    }
                QuorumInfo info = admin.describeMetadataQuorum().quorumInfo().get();
                String state = String.format("\"leader\": %d, \"epoch\": %d, \"voters\": %s", info.leaderId(), info.leaderEpoch(),
                    info.voters().stream().map(QuorumInfo.ReplicaState::replicaId).sorted().collect(Collectors.toList()));
                if (!state.equals(said.put("quorum", state))) quorum.printf("{\"ts\": %d, \"ts_end\": %d, %s}%n", at, System.currentTimeMillis(), state);
                pause(2000);
            }
        }
    }

    static List<Integer> ids(List<Node> nodes) { return nodes.stream().map(Node::id).collect(Collectors.toList()); }
}

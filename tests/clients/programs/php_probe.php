<?php
// What PHP's PDO and pgsql make of the Postgres wire transport: one line for each fact.
// php php_probe.php PORT TOKEN BY_MONTH FAILING…
[, $port, $token, $by_month] = $argv;
$slow = "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b,"
    . " generate_series(1, 1000) c WHERE a + b + c < 0";
$db = new PDO("pgsql:host=127.0.0.1;port=$port;dbname=local", "mia", $token,
    [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
$found = $db->prepare("SELECT c.name, o.placed FROM orders o JOIN customers c"
    . " ON c.id = o.customer_id WHERE o.id = ?");
$found->execute([2]);
echo "bound ", implode(" ", $found->fetch(PDO::FETCH_NUM)), "\n";
foreach ($db->query($by_month, PDO::FETCH_NUM) as $row) echo "month ", implode(" ", $row), "\n";
foreach (array_slice($argv, 4) as $sql) {
    try {
        $db->query($sql);
    } catch (PDOException $error) {
        echo "error ", $error->getCode(), "\n";
    }
}
$db->exec("SET statement_timeout = '300ms'");
try {
    $db->query($slow);
} catch (PDOException $error) {
    echo "timeout ", $error->getCode(), "\n";
}
$pg = pg_connect("host=127.0.0.1 port=$port dbname=local user=mia password=$token");
pg_send_query($pg, $slow);
usleep(500000);
echo "cancelling ", pg_cancel_query($pg) ? "yes" : "no", "\n"; // and reads to the end
$columns = pg_meta_data($pg, "orders");
ksort($columns);
echo "columns ", implode(" ", array_keys($columns)), "\n";
echo "after ", pg_fetch_result(pg_query($pg, "SELECT 1"), 0, 0), "\n";

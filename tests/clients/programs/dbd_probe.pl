# What Perl's DBD::Pg makes of the Postgres wire transport: one line for each fact.
# perl dbd_probe.pl PORT TOKEN BY_MONTH FAILING…
use strict;
use warnings;
use DBI;
use DBD::Pg qw(:async);

my ($port, $token, $by_month, @failing) = @ARGV;
my $slow = "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b,"
    . " generate_series(1, 1000) c WHERE a + b + c < 0";
my $db = DBI->connect("dbi:Pg:dbname=local;host=127.0.0.1;port=$port", "mia", $token,
    {RaiseError => 1, PrintError => 0});
my $found = $db->prepare(
    "SELECT c.name, o.placed FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.id = ?");
$found->execute(2);
print join(" ", "bound", @{$found->fetchrow_arrayref}), "\n";
$found->finish;
print join(" ", "month", @$_), "\n" for @{$db->selectall_arrayref($by_month)};
for my $sql (@failing) {
    eval { $db->do($sql) };
    print "error ", $db->state, "\n";
}
$db->do("SET statement_timeout = '300ms'");
eval { $db->selectall_arrayref($slow) };
print "timeout ", $db->state, "\n";
$db->do("RESET statement_timeout");
my $running = $db->prepare($slow, {pg_async => PG_ASYNC});
$running->execute;
select(undef, undef, undef, 0.5);
print "cancelled ", ($db->pg_cancel ? "yes" : "no"), "\n"; # yes is 57014
print join(" ", "keys", $db->primary_key(undef, "public", "orders")), "\n";
my $keys = $db->foreign_key_info(undef, undef, 'customers', undef, undef, 'orders');
print join(" ", "references", (@{$keys->fetchrow_arrayref})[6, 7]), "\n";
$keys->finish;
print join(" ", "after", $db->selectrow_array("SELECT 1")), "\n";
$db->disconnect;

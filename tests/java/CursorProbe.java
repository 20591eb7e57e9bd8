// What pgjdbc makes of a table read in parts: one line for each fact.
// java -cp postgresql.jar CursorProbe.java URL USER TOKEN BY_MONTH SLOW FAILING…
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;

public class CursorProbe {
  public static void main(String[] given) throws Exception {
    try (Connection db = DriverManager.getConnection(given[0], given[1], given[2])) {
      try (PreparedStatement bound = db.prepareStatement(
          "SELECT c.name, o.placed FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.id = ?")) {
        bound.setInt(1, 2);
        ResultSet found = bound.executeQuery();
        found.next();
        System.out.println("bound " + found.getString(1) + " " + found.getDate(2));
      }
      try (CallableStatement call = db.prepareCall("{? = call upper(?)}")) {
        call.registerOutParameter(1, Types.VARCHAR); // which travels as a parameter of type void
        call.setString(2, "called");
        for (int time = 0; time < 7; time++) {
          call.execute();
          System.out.println("call " + call.getString(1));
        }
      }
      try (Statement months = db.createStatement()) {
        ResultSet found = months.executeQuery(given[3]);
        while (found.next()) System.out.println("month " + found.getString(1) + " " + found.getBigDecimal(2));
      }
      for (int at = 5; at < given.length; at++) {
        try (Statement failing = db.createStatement()) {
          failing.execute(given[at]);
          System.out.println("no error");
        } catch (SQLException error) {
          System.out.println("error " + error.getSQLState());
        }
      }
      db.setAutoCommit(false); // only then does the driver read in parts
      try (PreparedStatement parts = db.prepareStatement("SELECT n FROM generate_series(1, ?) AS n ORDER BY n")) {
        parts.setInt(1, 25);
        parts.setFetchSize(10);
        for (int time = 0; time < 7; time++) { // by a named statement and in binary from the sixth on
          ResultSet found = parts.executeQuery();
          int rows = 0;
          int sum = 0;
          while (found.next()) {
            rows++;
            sum += found.getInt(1);
          }
          System.out.println("parts " + rows + " " + sum);
        }
        parts.setFetchSize(2);
        ResultSet left = parts.executeQuery();
        left.next();
        left.close(); // and the rest is never asked for
      }
      db.commit();
      db.setAutoCommit(true);
      try (Statement slow = db.createStatement()) {
        slow.execute("SET statement_timeout = '300ms'");
        slow.executeQuery(given[4]);
        System.out.println("timeout not");
      } catch (SQLException error) {
        System.out.println("timeout " + error.getSQLState());
      }
      try (Statement slow = db.createStatement()) {
        slow.execute("RESET statement_timeout");
        new Thread(() -> {
          try {
            Thread.sleep(500);
            slow.cancel();
          } catch (Exception error) {
            System.out.println("cancel " + error);
          }
        }).start();
        slow.executeQuery(given[4]);
        System.out.println("cancelled not");
      } catch (SQLException error) {
        System.out.println("cancelled " + error.getSQLState());
      }
      try (Statement after = db.createStatement()) {
        ResultSet found = after.executeQuery("SELECT 1");
        found.next();
        System.out.println("after " + found.getInt(1));
      }
    }
  }
}

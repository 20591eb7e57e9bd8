// What pgjdbc makes of the Postgres wire transport: one line for each fact, `name<TAB>value`.
// java -cp postgresql.jar PgProbe.java URL USER TOKEN QUESTION, one failing statement a line on
// standard input; a statement may hold one ?, which is bound to QUESTION.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;

public class PgProbe {
  static PrintStream out;

  static void say(String name, Object value) {
    String text = String.valueOf(value).replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t");
    out.println(name + "\t" + text);
  }

  static void row(String name, PreparedStatement statement) throws SQLException {
    try (ResultSet found = statement.executeQuery()) {
      ResultSetMetaData columns = found.getMetaData();
      found.next();
      for (int at = 1; at <= columns.getColumnCount(); at++) {
        say(name + "." + columns.getColumnName(at) + ":" + columns.getColumnTypeName(at), found.getString(at));
      }
      say(name + ".more", found.next());
    }
  }

  static void names(String name, ResultSet found, String... columns) throws SQLException {
    StringBuilder text = new StringBuilder();
    while (found.next()) {
      for (String column : columns) text.append(found.getString(column)).append(' ');
    }
    say(name, text.toString().trim());
  }

  public static void main(String[] given) throws Exception {
    out = new PrintStream(System.out, true, "UTF-8");
    try (Connection db = DriverManager.getConnection(given[0], given[1], given[2])) {
      try (PreparedStatement ask = db.prepareStatement("ASK ? USING scripted LIMIT 2")) {
        ask.setString(1, given[3]);
        for (int time = 0; time < 7; time++) row("ask" + time, ask); // in binary from the sixth on
      }
      try (PreparedStatement plan = db.prepareStatement("EXPLAIN ASK ? USING scripted")) {
        plan.setString(1, given[3]);
        row("plan", plan);
      }
      try (PreparedStatement select = db.prepareStatement("SELECT id, title, urn FROM notes WHERE id = ?")) {
        select.setLong(1, 2);
        for (int time = 0; time < 7; time++) row("select" + time, select);
        select.setObject(1, "2", java.sql.Types.OTHER); // of no type, as a literal
        row("text", select);
      }
      DatabaseMetaData about = db.getMetaData();
      names("tables", about.getTables(null, "public", "%", new String[] {"TABLE"}), "TABLE_NAME");
      names("columns", about.getColumns(null, "public", "notes", null), "COLUMN_NAME", "TYPE_NAME", "IS_NULLABLE");
      names("keys", about.getPrimaryKeys(null, "public", "notes"), "COLUMN_NAME");
      names("schemas", about.getSchemas(), "TABLE_SCHEM");
      try (ResultSet kinds = about.getTypeInfo()) {
        say("types", kinds.next());
      }
      BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        try (PreparedStatement failing = db.prepareStatement(line)) {
          if (line.contains("?")) failing.setString(1, given[3]);
          failing.executeQuery();
          say("state", "no error: " + line);
        } catch (SQLException error) {
          say("state", error.getSQLState());
        }
      }
      try (Statement slow = db.createStatement()) {
        new Thread(() -> {
          try {
            Thread.sleep(400);
            slow.cancel();
          } catch (Exception error) {
            say("cancel", error);
          }
        }).start();
        slow.executeQuery("ASK 'ferry, cancelled by java' USING anthropic");
        say("cancelled", "not");
      } catch (SQLException error) {
        say("cancelled", error.getSQLState());
      }
      say("valid", db.isValid(5));
    }
    try (Connection again = DriverManager.getConnection(given[0], given[1], given[2]);
        PreparedStatement one = again.prepareStatement("SELECT 1")) {
      row("again", one);
    }
    try (Connection wrong = DriverManager.getConnection(given[0], given[1], given[2] + "x")) {
      say("stranger", "let in");
    } catch (SQLException error) {
      say("stranger", error.getSQLState());
    }
  }
}

// JDBC: one line per check on stdout, exit status 1 at the first that fails.
// Usage: java -cp postgresql.jar JdbcClient.java HOST PORT USER PASSWORD DATABASE plain|tls
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.sql.*;
import java.util.Arrays;
import java.util.Properties;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

public class JdbcClient {
  interface Body { void run() throws Exception; }

  static void check(String name, Body body) throws Exception {
    body.run();
    System.out.println("ok " + name);
  }

  static void require(boolean condition, String what) {
    if (!condition) throw new AssertionError(what);
  }

  static void requireState(String state, Body body) throws Exception {
    try {
      body.run();
    } catch (SQLException error) {
      require(state.equals(error.getSQLState()), "SQLSTATE " + error.getSQLState() + ", not " + state);
      return;
    }
    throw new AssertionError("no error, expected " + state);
  }

  public static void main(String[] arguments) throws Exception {
    String url = "jdbc:postgresql://" + arguments[0] + ":" + arguments[1] + "/" + arguments[4];
    Properties properties = new Properties();
    properties.setProperty("user", arguments[2]);
    properties.setProperty("password", arguments[3]);
    properties.setProperty("ApplicationName", "jdbc");
    properties.setProperty("sslmode", arguments[5].equals("tls") ? "require" : "disable");
    properties.setProperty("options", "-c statement_timeout=30000");
    try (Connection connection = DriverManager.getConnection(url, properties)) {
      checkQueries(connection);
      checkStreams(connection, url, properties);
    }
    properties.setProperty("preferQueryMode", "simple");
    try (Connection connection = DriverManager.getConnection(url, properties); Statement statement = connection.createStatement()) {
      require(statement.execute("select 1; select 2"), "first result");
      ResultSet rows = statement.getResultSet();
      require(rows.next() && rows.getInt(1) == 1 && statement.getMoreResults(), "second result");
      System.out.println("ok simple query mode");
    }
  }

  static void checkQueries(Connection connection) throws Exception {
    check("types", () -> {
      try (PreparedStatement statement = connection.prepareStatement(
          "select ?::int4, ?::int8, ?::numeric, ?::text, ?::bool, ?::bytea, ?::timestamptz, array[1,2], null::text")) {
        statement.setInt(1, 1);
        statement.setLong(2, 2L);
        statement.setBigDecimal(3, new java.math.BigDecimal("1.50"));
        statement.setString(4, "caf\u00e9");
        statement.setBoolean(5, true);
        statement.setBytes(6, new byte[] {0, -1});
        statement.setTimestamp(7, new Timestamp(0));
        ResultSet row = statement.executeQuery();
        require(row.next() && row.getInt(1) == 1 && row.getLong(2) == 2 && row.getBigDecimal(3).toString().equals("1.50")
            && row.getString(4).equals("caf\u00e9") && row.getBoolean(5) && Arrays.equals(row.getBytes(6), new byte[] {0, -1})
            && row.getTimestamp(7).getTime() == 0 && row.getArray(8) != null && row.getString(9) == null, "values");
      }
    });
    check("errors", () -> {
      try (Statement statement = connection.createStatement()) {
        requireState("22012", () -> statement.executeQuery("select 1/0"));
        requireState("42P01", () -> statement.executeQuery("select * from nosuch"));
        require(statement.executeQuery("select 1").next(), "usable after an error");
      }
    });
    check("server-side prepared statements and metadata", () -> {
      try (PreparedStatement statement = connection.prepareStatement("select ?::int + 1 as next")) {
        require(statement.getMetaData().getColumnName(1).equals("next"), "metadata");
        for (int i = 0; i < 20; i++) {            // the fifth execution switches to a named statement
          statement.setInt(1, i);
          ResultSet row = statement.executeQuery();
          require(row.next() && row.getInt(1) == i + 1, "sum");
        }
      }
      require(connection.getMetaData().getTables(null, "pg_catalog", "pg_class", null).next(), "catalogue");
    });
    check("batches and transactions", () -> {
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        statement.execute("create temp table t (a int, b text)");
      }
      try (PreparedStatement insert = connection.prepareStatement("insert into t values (?, ?)")) {
        for (int i = 0; i < 3000; i++) {
          insert.setInt(1, i);
          insert.setString(2, "row " + i);
          insert.addBatch();
        }
        require(insert.executeBatch().length == 3000, "batch");
      }
      Savepoint savepoint = connection.setSavepoint();
      try (Statement statement = connection.createStatement()) {
        requireState("22012", () -> statement.executeQuery("select 1/0"));
      }
      connection.rollback(savepoint);
      try (Statement cursor = connection.createStatement()) {
        cursor.setFetchSize(100);                 // a portal with a row limit
        ResultSet rows = cursor.executeQuery("select a from t order by a");
        int count = 0;
        while (rows.next()) require(rows.getInt(1) == count++, "order");
        require(count == 3000, "rows");
      }
      connection.commit();
      connection.setAutoCommit(true);
    });
  }

  static void checkStreams(Connection connection, String url, Properties properties) throws Exception {
    PGConnection native_ = connection.unwrap(PGConnection.class);
    check("copy", () -> {
      StringBuilder lines = new StringBuilder();
      for (int i = 0; i < 20000; i++) lines.append(i).append("\trow ").append(i).append('\n');
      byte[] data = lines.toString().getBytes(StandardCharsets.UTF_8);
      try (Statement statement = connection.createStatement()) {
        statement.execute("truncate t");
      }
      require(native_.getCopyAPI().copyIn("copy t from stdin", new ByteArrayInputStream(data)) == 20000, "copy in");
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      native_.getCopyAPI().copyOut("copy t to stdout", out);
      require(Arrays.equals(out.toByteArray(), data), "copy out");
    });
    check("large values", () -> {
      String value = "x".repeat(8 << 20);
      try (PreparedStatement statement = connection.prepareStatement("select ?::text")) {
        statement.setString(1, value);
        ResultSet row = statement.executeQuery();
        require(row.next() && row.getString(1).equals(value), "value");
      }
    });
    check("large objects", () -> {
      connection.setAutoCommit(false);
      var manager = native_.getLargeObjectAPI();
      long id = manager.createLO();
      var object = manager.open(id);
      object.write(new byte[100000]);
      object.seek(0);
      require(object.read(200000).length == 100000, "FunctionCall");
      object.close();
      manager.delete(id);
      connection.commit();
      connection.setAutoCommit(true);
    });
    check("notifications", () -> {
      try (Connection other = DriverManager.getConnection(url, properties);
           Statement listen = connection.createStatement(); Statement notify = other.createStatement()) {
        listen.execute("listen jdbc");
        notify.execute("notify jdbc, 'hello'");
        PGNotification[] heard = native_.getNotifications(5000);
        require(heard != null && heard.length == 1 && heard[0].getParameter().equals("hello"), "notification");
      }
    });
    check("cancel", () -> {
      try (Statement statement = connection.createStatement()) {
        Thread canceller = new Thread(() -> {
          try {
            Thread.sleep(300);
            statement.cancel();
          } catch (Exception fault) {
            throw new RuntimeException(fault);
          }
        });
        canceller.start();
        requireState("57014", () -> statement.executeQuery("select pg_sleep(20)"));
        canceller.join();
      }
    });
  }
}

# What R's RPostgreSQL makes of the Postgres wire transport: one line for each fact.
# Rscript r_probe.R PORT TOKEN BY_MONTH FAILING…
suppressPackageStartupMessages(library(RPostgreSQL))
given <- commandArgs(TRUE)
slow <- paste("SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b,",
              "generate_series(1, 1000) c WHERE a + b + c < 0")
db <- dbConnect(PostgreSQL(), dbname = "local", host = "127.0.0.1", port = as.integer(given[1]),
                user = "mia", password = given[2])
failure <- function(sql) {
  said <- tryCatch({ dbGetQuery(db, sql); dbGetException(db)$errorMsg },
                   error = conditionMessage, warning = conditionMessage)
  gsub("\n", " ", said)
}
found <- dbGetQuery(db, paste("SELECT c.name, o.placed FROM orders o",
                              "JOIN customers c ON c.id = o.customer_id WHERE o.id = $1"), 2)
cat("bound", found$name, format(found$placed), "\n")
months <- dbGetQuery(db, given[3])
for (at in seq_len(nrow(months))) cat("month", months$month[at], format(months$total[at], nsmall = 2), "\n")
for (sql in given[-(1:3)]) cat("error", failure(sql), "\n")
invisible(dbGetQuery(db, "SET statement_timeout = '300ms'"))
cat("timeout", failure(slow), "\n")
invisible(dbGetQuery(db, "RESET statement_timeout"))
cat("tables", sort(dbListTables(db)), "\n")
cat("columns", sort(dbListFields(db, "orders")), "\n")
invisible(dbDisconnect(db))

// What Go's pgx makes of the Postgres wire transport: one line for each fact.
// go run pgx_probe.go URL, with GO111MODULE=off and GOPATH where Debian has its sources.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgx/v4"
)

func state(err error) string {
	if known, ok := err.(*pgconn.PgError); ok {
		return known.Code
	}
	return fmt.Sprint(err)
}

func main() {
	all := context.Background()
	connection, err := pgx.Connect(all, os.Args[1])
	if err != nil {
		fmt.Println("connect", err)
		os.Exit(1)
	}
	defer connection.Close(all)
	var name string
	var placed time.Time
	err = connection.QueryRow(all, "SELECT c.name, o.placed FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.id = $1", 2).Scan(&name, &placed)
	fmt.Println("bound", name, placed.Format("2006-01-02"), err)
	rows, _ := connection.Query(all, os.Args[2])
	for rows.Next() {
		var month, total string
		if err := rows.Scan(&month, &total); err != nil {
			fmt.Println("month", err)
		}
		fmt.Println("month", month, total)
	}
	for _, sql := range os.Args[3:] {
		_, err = connection.Exec(all, sql)
		fmt.Println("error", state(err))
	}
	connection.Exec(all, "SET statement_timeout = '300ms'")
	_, err = connection.Exec(all, slow)
	fmt.Println("timeout", state(err))
	connection.Exec(all, "RESET statement_timeout")
	ended := make(chan error)
	go func() {
		_, err := connection.Exec(all, slow)
		ended <- err
	}()
	time.Sleep(500 * time.Millisecond)
	connection.PgConn().CancelRequest(all)
	fmt.Println("cancelled", state(<-ended))
	var one int
	connection.QueryRow(all, "SELECT 1").Scan(&one)
	fmt.Println("after", one)
}

const slow = "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b, generate_series(1, 1000) c WHERE a + b + c < 0"

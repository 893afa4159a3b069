// FerretDB on SQLite: a server that speaks MongoDB's protocol, for the tests.
//
// ferretdb PORT FOLDER listens on 127.0.0.1:PORT and keeps its databases in FOLDER.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: ferretdb PORT FOLDER")
		os.Exit(2)
	}
	// A killed server loses nothing by writes that the disk has not confirmed, only a machine that loses its power would.
	databases := "file:" + os.Args[2] + "/?_pragma=synchronous(off)"
	if err := serve("127.0.0.1:"+os.Args[1], databases); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(address string, databases string) error {
	server, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: address},
		Handler:   "sqlite",
		SQLiteURL: databases,
		Logger:    slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	ended, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	return server.Run(ended)
}

package main

import (
	"os"
	"testing"
)

func TestPageIsCurrent(t *testing.T) {
	want, err := write()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("docs/cli.md is not what kubectl addon has: run `make generate` (or `go run -C hack/clireference . ../../docs/cli.md`) and commit it")
	}
}

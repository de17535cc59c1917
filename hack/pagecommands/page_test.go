package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const fences = "```"

var page = strings.ReplaceAll(`# Title
Text.
'''sh
first=1
'''
## Second
'''sh
echo $((first + 1))
cat # reads nothing
'''
It prints:
'''text
2
'''
'''text
not an output
'''
'''yaml
kind: List
'''
## Third
'''text
not an output
'''
'''sh
echo "NAME   AGE"; echo noise; echo "one    7s"
'''
'''text
NAME AGE
one …
'''
`, "'''", fences)

func TestParse(t *testing.T) {
	want := []block{
		{heading: "Title", commands: "first=1\n", line: 4},
		{heading: "Second", commands: "echo $((first + 1))\ncat # reads nothing\n", line: 8, output: []string{"2"}},
		{heading: "Third", commands: `echo "NAME   AGE"; echo noise; echo "one    7s"` + "\n", line: 26, output: []string{"NAME AGE", "one …"}},
	}
	got := parse(page)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(block{})); diff != "" {
		t.Error(diff)
	}
}

func TestSection(t *testing.T) {
	tests := map[string]struct {
		start, end string
		want       string
		failure    string
	}{
		"all":             {want: "Title Second Third"},
		"until":           {end: "Third", want: "Title Second"},
		"from":            {start: "Second", want: "Second Third"},
		"both":            {start: "Second", end: "Third", want: "Second"},
		"unknown heading": {start: "Fourth", failure: `no commands below a heading "Fourth"`},
		"nothing between": {start: "Third", end: "Second", failure: `no commands from "Third" until "Second"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := section(parse(page), tt.start, tt.end)
			if tt.failure != "" {
				if err == nil || err.Error() != tt.failure {
					t.Errorf("got error %v, want %s", err, tt.failure)
				}
				return
			}
			var headings []string
			for _, b := range got {
				headings = append(headings, b.heading)
			}
			if err != nil || strings.Join(headings, " ") != tt.want {
				t.Errorf("got %v, %v, want %s", headings, err, tt.want)
			}
		})
	}
}

func TestRun(t *testing.T) {
	const failed = "a command of this block failed"
	first := func(replacement string) string { return strings.Replace(page, "first=1", replacement, 1) }
	tests := map[string]struct{ page, failure string }{
		"all as shown":   {page: page},
		"another output": {page: first("first=2"), failure: "page.md:8: the commands did not print this line of the page:\n2"},
		"lines in other order": {
			page:    strings.Replace(page, "NAME AGE\none …", "one …\nNAME AGE", 1),
			failure: "did not print this line of the page:\nNAME AGE",
		},
		"a command that fails":  {page: first("false; first=1"), failure: "page.md:4: " + failed},
		"one in a pipe":         {page: first("false | cat; first=1"), failure: "page.md:4: " + failed},
		"a variable is missing": {page: first("second=1"), failure: "page.md:8: " + failed},
		"it ends the shell":     {page: first("exit"), failure: "page.md:4: " + failed},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			err := run(t.Context(), "page.md", parse(tt.page), &out)
			switch {
			case tt.failure == "" && err != nil:
				t.Errorf("%v\n%s", err, &out)
			case tt.failure != "" && (err == nil || !strings.Contains(err.Error(), tt.failure)):
				t.Errorf("got error %v, want %s", err, tt.failure)
			}
		})
	}
}

func TestReplace(t *testing.T) {
	blocks := []block{{commands: "kubectl get managedclusteraddon -n CLUSTER ADDON # CLUSTERS, ADDON\n"}, {commands: "echo\n"}}
	got := replace(blocks, map[string]string{"CLUSTER": "cluster1", "ADDON": "gateway"})
	if want := "kubectl get managedclusteraddon -n cluster1 gateway # CLUSTERS, gateway\n"; got[0].commands != want {
		t.Errorf("%q, want %q", got[0].commands, want)
	}
	if got[1].commands != "echo\n" || strings.Contains(blocks[0].commands, "cluster1") {
		t.Errorf("%q, and the page %q", got[1].commands, blocks[0].commands)
	}
}

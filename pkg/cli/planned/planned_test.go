package planned

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
)

// person is an input in which a person answers.
type person struct{ io.Reader }

func (person) Answers() bool { return true }

func TestWithoutAnAnswerNothingIsDone(t *testing.T) {
	for _, test := range []struct {
		name     string
		input    io.Reader
		yes      bool
		onlyPlan bool
		complete string
	}{
		{name: "a pipe", input: strings.NewReader("yes\n"), complete: "standard input is no terminal"},
		{name: "a pipe, and --yes", input: strings.NewReader(""), yes: true},
		{name: "a pipe, and --plan", input: strings.NewReader(""), onlyPlan: true},
		{name: "a person", input: person{strings.NewReader("")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := &Options{
				IOStreams: genericiooptions.IOStreams{In: test.input}, Source: &source.Source{Config: genericclioptions.NewConfigFlags(true)},
				Flags: output.NewFlags(), yes: test.yes, Only: test.onlyPlan, clusters: []string{"c1"},
			}
			err := o.Complete([]string{"base"})
			if (err != nil) != (test.complete != "") || err != nil && !strings.HasPrefix(err.Error(), test.complete) {
				t.Errorf("ends with %v", err)
			}
		})
	}
}

func TestConfirm(t *testing.T) {
	for answer, want := range map[string]error{
		"y\n": nil, "Yes \n": nil, "yes": nil, "n\n": ErrDeclined, "\n": ErrDeclined, "": ErrDeclined, "yep\n": ErrDeclined,
	} {
		streams, in, _, errOut := genericiooptions.NewTestIOStreams()
		in.WriteString(answer)
		o := &Options{IOStreams: streams}
		if err := o.Confirm(t.Context(), "Create 2 ManagedClusterAddOns?"); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", answer, err, want)
		}
		if got := errOut.String(); got != "Create 2 ManagedClusterAddOns? [y/N] " {
			t.Errorf("asks %q", got)
		}
	}
}

func TestAQuestionCanBeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	silent, closing := io.Pipe()
	defer closing.Close()
	o := &Options{IOStreams: genericiooptions.IOStreams{In: silent, ErrOut: io.Discard}}
	if err := o.Confirm(ctx, "?"); !errors.Is(err, ErrDeclined) {
		t.Errorf("ends with %v", err)
	}
}

// Neither flag may be ignored without a message: the add-ons would change on other managed clusters than the user thinks.
func TestManagedClustersAreNamedOnce(t *testing.T) {
	for _, test := range []struct {
		name, namespace, labels string
		clusters                []string
		fails                   string
	}{
		{name: "--cluster", clusters: []string{"c1", "c2"}},
		{name: "-n", namespace: "c2"},
		{name: "both", clusters: []string{"c1"}, namespace: "c2", fails: "-n c2 and --cluster: use --cluster only"},
		{name: "-n and --selector", labels: "a=b", namespace: "c2", fails: "-n c2 and --selector: use --selector only"},
		{name: "--cluster and --selector", labels: "a=b", clusters: []string{"c1"}, fails: "--cluster and --selector: choose one"},
		{name: "none", fails: "name the managed clusters: --cluster or --selector"},
	} {
		t.Run(test.name, func(t *testing.T) {
			from := &source.Source{Config: genericclioptions.NewConfigFlags(true)}
			*from.Config.Namespace = test.namespace
			o := &Options{Source: from, Flags: output.NewFlags(), yes: true, clusters: test.clusters, labels: test.labels}
			err := o.Complete([]string{"base"})
			if (err != nil) != (test.fails != "") || err != nil && !strings.HasPrefix(err.Error(), test.fails) {
				t.Errorf("ends with %v", err)
			}
		})
	}
}

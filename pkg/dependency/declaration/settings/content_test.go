package settings

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func spec(t *testing.T, written string) map[string]any {
	t.Helper()
	if written == "" {
		return nil
	}
	var read map[string]any
	if err := yaml.Unmarshal([]byte(written), &read); err != nil {
		t.Fatal(err)
	}
	return read
}

const (
	plain = `{agentInstallNamespace: ""}`
	grpc  = `{agentInstallNamespace: "", customizedVariables: [{name: mode, value: grpc}]}`
	http  = `{agentInstallNamespace: "", customizedVariables: [{name: mode, value: http}]}`
	rich  = `{agentInstallNamespace: agents, nodePlacement: {nodeSelector: {a: b}}, registries: [{source: s, mirror: m}],
		proxyConfig: {httpProxy: "http://proxy"}, resourceRequirements: [{containerID: "*:*:*"}],
		customizedVariables: [{name: mode, value: http}]}`
	richGRPC = `{agentInstallNamespace: agents, nodePlacement: {nodeSelector: {a: b}}, registries: [{source: s, mirror: m}],
		proxyConfig: {httpProxy: "http://proxy"}, resourceRequirements: [{containerID: "*:*:*"}],
		customizedVariables: [{name: mode, value: grpc}]}`
)

func TestMake(t *testing.T) {
	agreedOn := func(variables ...Variable) Agreed { return Agreed{Variables: variables} }
	unknown := func(name string, isSealed bool) Agreed {
		return Agreed{Unknown: []Variable{{Name: name, Required: true, Sealed: isSealed}}}
	}
	for name, test := range map[string]struct {
		reason string
		agreed Agreed
		// written are the settings that were agreed at the last write, and formerDisplaced the content that was displaced then.
		written                    *Agreed
		formerDisplaced, displaced string
		stored, want               string
		changed, undone            bool
		forced                     bool
	}{
		"First": {reason: "it is created", agreed: agreedOn(set("mode", "grpc")), want: grpc, changed: true},
		"Displaces": {
			reason: "all that it displaces stays in force",
			agreed: agreedOn(sealed("grpc")), displaced: rich, want: richGRPC, changed: true,
		},
		"AdministratorsDefaultWins": {
			reason: "Default: the value that the displaced one has wins, as Helm's parent values win over those of a subchart",
			agreed: agreedOn(set("mode", "grpc")), displaced: http, want: http, changed: true,
		},
		"SealWins": {reason: "Seal: the pushed value wins", agreed: agreedOn(sealed("grpc")), displaced: http, want: grpc, changed: true},
		"Settled": {
			reason: "no write without a change", agreed: agreedOn(set("mode", "grpc")), written: ptr(agreedOn(set("mode", "grpc"))), stored: grpc,
			want: grpc,
		},
		"RequiredAndUnknown": {
			reason: "the source of a required value is gone: the written value stays", agreed: unknown("mode", false),
			written: ptr(agreedOn(set("mode", "grpc"))), stored: grpc, want: grpc,
		},
		"RequiredAndUnknownPutBack": {
			reason: "the same with Seal, where another writer has changed it", agreed: unknown("mode", true),
			written: ptr(agreedOn(sealed("grpc"))), stored: http, want: grpc, changed: true, undone: true,
		},
		"RequiredAndNeverKnown": {reason: "nothing is guessed", agreed: unknown("mode", false), want: plain, changed: true},
		"RequiredNoMore": {
			reason: "no dependent requests it any more", written: ptr(agreedOn(set("mode", "grpc"))), stored: grpc, want: plain, changed: true,
		},
		"UserWins": {
			reason: "Default: what a user has set stays", agreed: agreedOn(set("mode", "grpc")),
			written: ptr(agreedOn(set("mode", "grpc"))), stored: http,
			want: http,
		},
		"UserWinsAgain": {
			reason: "also where the dependents request something new", agreed: agreedOn(set("mode", "ftp")),
			written: ptr(agreedOn(set("mode", "grpc"))),
			stored:  http, want: http,
		},
		"SealPutsBack": {
			reason: "Seal: a change is put back", agreed: agreedOn(sealed("grpc")), written: ptr(agreedOn(sealed("grpc"))), stored: http,
			want: grpc, changed: true, undone: true,
		},
		"AdministratorOverrules": {
			reason: "force: a sealed value of another writer stays", agreed: agreedOn(sealed("grpc")),
			written: ptr(agreedOn(sealed("grpc"))), stored: http,
			forced: true, want: http, changed: true,
		},
		"ForcedWithoutAChange": {
			reason: "force: the value of the dependents stays until another is set", agreed: agreedOn(sealed("grpc")),
			written: ptr(agreedOn(sealed("grpc"))),
			stored:  grpc, forced: true, want: grpc, changed: true,
		},
		"DeletedVariable": {
			reason: "a variable that is gone is no value of a user", agreed: agreedOn(set("mode", "grpc")),
			written: ptr(agreedOn(set("mode", "grpc"))),
			stored:  plain,
			want:    grpc, changed: true, undone: true,
		},
		"NewWish": {
			reason: "another value is wished: that undoes nothing", agreed: agreedOn(set("mode", "http")),
			written: ptr(agreedOn(set("mode", "grpc"))),
			stored:  grpc,
			want:    http, changed: true,
		},
		"NoWish": {
			reason: "what no dependent wishes any more goes", written: ptr(agreedOn(set("mode", "grpc"))), stored: grpc, want: plain, changed: true,
		},
		"NoWishButTheUsers": {
			reason: "a user's value stays then", written: ptr(agreedOn(set("mode", "grpc"))), stored: http, want: plain,
			changed: true,
		},
		"SourceRefreshed": {
			reason: "what it displaces has changed", displaced: rich, formerDisplaced: http, written: &Agreed{}, stored: http,
			want: rich, changed: true,
		},
		"CopyEdited": {
			reason: "what is copied is changed at its source only", displaced: http, formerDisplaced: http, written: &Agreed{},
			stored: `{agentInstallNamespace: elsewhere, customizedVariables: [{name: mode, value: http}]}`, want: http, changed: true, undone: true,
		},
		"OthersVariable": {
			reason: "what another writer has added is left alone", agreed: agreedOn(set("mode", "grpc")),
			written: ptr(agreedOn(set("mode", "grpc"))),
			want:    grpc,
			stored:  `{agentInstallNamespace: "", customizedVariables: [{name: mode, value: grpc}, {name: mine, value: x}]}`,
		},
		"Unsealed": {
			reason: "the seal ends, the value stays", agreed: agreedOn(set("mode", "grpc")),
			written: ptr(agreedOn(sealed("grpc"))), stored: grpc, want: grpc,
			changed: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			state := State{Displaced: spec(t, test.displaced), Stored: spec(t, test.stored), Forced: test.forced}
			if test.written != nil {
				written := Make(*test.written, State{Displaced: spec(t, test.formerDisplaced)}).Written
				state.Written = ReadWritten(written.String())
			}
			got := Make(test.agreed, state)
			if diff := cmp.Diff(spec(t, test.want), got.Spec); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", test.reason, diff)
			}
			if got.Changed != test.changed || got.Undone != test.undone {
				t.Errorf("%s: changed %t, undone %t", test.reason, got.Changed, got.Undone)
			}
			written := State{Displaced: state.Displaced, Stored: got.Spec, Written: got.Written, Forced: test.forced}
			if settled := Make(test.agreed, written); settled.Changed || settled.Undone {
				t.Errorf("%s: once written, it is written again: %+v", test.reason, settled)
			}
		})
	}
}

func ptr[T any](value T) *T { return &value }

func FuzzReadWritten(f *testing.F) {
	f.Add(`{"variables": {"a": "b"}, "sealed": ["a"]}`)
	f.Add(`[`)
	f.Fuzz(func(t *testing.T, annotation string) {
		content := Make(Agreed{Variables: []Variable{set("mode", "grpc")}}, State{
			Stored:  map[string]any{fieldVariables: annotation},
			Written: ReadWritten(annotation),
		})
		if content.Spec == nil || len(variablesOf(content.Spec)) == 0 {
			t.Errorf("got %v", content)
		}
	})
}

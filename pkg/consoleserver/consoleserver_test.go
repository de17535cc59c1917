package consoleserver

import (
	"crypto/x509"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	clocktesting "k8s.io/utils/clock/testing"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/mixedfleet"
)

func TestHosts(t *testing.T) {
	served := hosts(append(ServiceHosts("interlock-console", "ns"), "Addons.example.com", "other.example.com:8443"))
	for host, want := range map[string]bool{
		"localhost": true, "localhost:8443": true, "127.0.0.1:1": true, "[::1]:8443": true, "[::1]": true,
		"interlock-console.ns.svc": true, "interlock-console.ns.svc:443": true, "interlock-console:443": true,
		"addons.example.com": true, "ADDONS.example.com:443": true, "other.example.com:8443": true,
		"other.example.com": false, "other.example.com:443": false, "localhost.attacker.example": false, "attacker.example": false,
		"127.0.0.2": false, "": false, ":443": false, "interlock-console.other.svc": false,
	} {
		if got := served.has(host); got != want {
			t.Errorf("%q: got %t, want %t", host, got, want)
		}
	}
	for text, want := range map[string]bool{
		"a.example": true, "a.example:443": true, "10.0.0.1": true, "[::1]:443": true, "::1": true,
		"https://a.example": false, "a.example/path": false, "": false, "a b": false, "*.example": false,
	} {
		if got := IsHost(text); got != want {
			t.Errorf("%q is a host: got %t, want %t", text, got, want)
		}
	}
}

// TestOwnCertificateIsRenewed tests the certificate that the console makes for itself.
func TestOwnCertificateIsRenewed(t *testing.T) {
	now := clocktesting.NewFakePassiveClock(time.Now())
	own := &selfSigned{hosts: []string{"localhost", "127.0.0.1", "::1", "a.example:8443"}, clock: now}
	first, err := own.certificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(first.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"localhost", "127.0.0.1", "::1", "a.example"} {
		if err := parsed.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	now.SetTime(now.Now().Add(renewAfter - time.Minute))
	if second, err := own.certificate(nil); err != nil || second != first {
		t.Errorf("renewed too early, %v", err)
	}
	now.SetTime(now.Now().Add(time.Hour))
	if third, err := own.certificate(nil); err != nil || third == first {
		t.Errorf("not renewed, %v", err)
	}
}

// TestNotesNameMissingRights tests that each hidden kind that verdicts depend on has a note, and no other.
func TestNotesNameMissingRights(t *testing.T) {
	content := mixedfleet.Content(3)
	if notes := notes(snapshot.New(content.Permit(snapshot.Permissions{
		Policies: true, Templates: true, Configs: true, Placements: true, Decisions: true,
		Facts: true, Installations: true, OCM: true, Manager: true,
	}))); len(notes) > 0 {
		t.Errorf("all rights: %q", notes)
	}
	contains := func(notes []string, part string) bool {
		return slices.ContainsFunc(notes, func(note string) bool { return len(note) > len(part) && note[len(note)-len(part):] == part })
	}
	some := notes(snapshot.New(content.Permit(snapshot.Permissions{})))
	if len(some) != 2 || !contains(some, "no right to list managedclusterfacts.") {
		t.Errorf("a fleet with dependencies on APIs: %q", some)
	}
	content.Registrations = append(content.Registrations, fixture.Deployed(fixture.Specified(t, "x", "{requirements: {ocm: '>= 1'}, "+
		"dependencies: [{name: a, when: {expression: 'config.size() == 0'}}, {name: b, api: {kind: Thing, servedBy: HostingCluster}}]}")))
	if all := notes(snapshot.New(content.Permit(snapshot.Permissions{Clusters: sets.New[string]()}))); len(all) != 6 {
		t.Errorf("a fleet that needs everything: %q", all)
	}
	restricted := overviews{"region"}.options(snapshot.New(content.Permit(snapshot.Permissions{Clusters: sets.New[string]()})))
	if restricted.Selection == "" || (overviews{"region"}).options(snapshot.New(content)).Selection != "" {
		t.Error("the page does not tell whether it has the whole fleet")
	}
}

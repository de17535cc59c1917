package certificate

import (
	"bytes"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"
)

const (
	day        = 24 * time.Hour
	serverName = "interlock-webhook.interlock-system.svc"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// renewAt takes the steps that are due on the data at a time.
func renewAt(t *testing.T, data map[string][]byte, at time.Time) (map[string][]byte, []step, time.Duration) {
	t.Helper()
	keeper := NewKeeper(clocktesting.NewFakePassiveClock(at), secretKey, serverName, DefaultLifetimes())
	secret := &corev1.Secret{Data: maps.Clone(data)}
	steps, wait, err := keeper.renew(secret)
	if err != nil {
		t.Fatal(err)
	}
	return secret.Data, steps, wait
}

func without(names ...string) func(map[string][]byte) {
	return func(data map[string][]byte) {
		for _, name := range names {
			delete(data, name)
		}
	}
}

func nonsense(names ...string) func(map[string][]byte) {
	return func(data map[string][]byte) {
		for _, name := range names {
			data[name] = []byte("nonsense")
		}
	}
}

func TestStepsThatAreDue(t *testing.T) {
	fresh, steps, wait := renewAt(t, nil, start)
	if !slices.Equal(steps, []step{introduce, issue}) || wait != 275*day {
		t.Fatalf("at first: %v, then a rest of %s", steps, wait)
	}
	other, _, _ := renewAt(t, nil, start)
	overlapping, _, _ := renewAt(t, map[string][]byte{
		BundleKey: fresh[BundleKey], "tls.crt": fresh["tls.crt"], "tls.key": fresh["tls.key"],
	}, start)
	switched, _, _ := renewAt(t, overlapping, start.Add(7*day))

	for _, test := range []struct {
		name    string
		before  map[string][]byte
		spoil   func(map[string][]byte)
		after   time.Duration
		want    []step
		trusted int
		// rest is how long nothing is due afterwards.
		rest time.Duration
	}{
		{name: "nothing is due", before: fresh, after: day, trusted: 1, rest: 274 * day},
		{name: "the certificate ends in less than 90 days", before: fresh, after: 275 * day, want: []step{issue}, trusted: 1, rest: 275 * day},
		{name: "the certificate has ended", before: fresh, after: 366 * day, want: []step{issue}, trusted: 1, rest: 275 * day},
		{
			name: "the authority ends in less than 90 days, the certificate has ended", before: fresh, after: (3650 - 90) * day,
			want: []step{introduce, issue}, trusted: 1, rest: 275 * day,
		},
		{name: "both have ended", before: fresh, after: 3651 * day, want: []step{introduce, issue}, trusted: 1, rest: 275 * day},
		{
			name: "the authority's key was removed", before: fresh, spoil: without("ca.key"), after: day,
			want: []step{introduce}, trusted: 2, rest: 7 * day,
		},
		{
			name: "the authority's key is another's", before: fresh,
			spoil: func(data map[string][]byte) { data["ca.key"] = other["ca.key"] }, after: day, want: []step{introduce},
			trusted: 2, rest: 7 * day,
		},
		{
			name: "the authority's key is nonsense", before: fresh, spoil: nonsense("ca.key"), after: day,
			want: []step{introduce}, trusted: 2, rest: 7 * day,
		},
		{
			name: "the authority was removed", before: fresh, spoil: without(BundleKey), after: day,
			want: []step{introduce, issue}, trusted: 1, rest: 275 * day,
		},
		{
			name: "the authority is nonsense", before: fresh, spoil: nonsense(BundleKey), after: day,
			want: []step{introduce, issue}, trusted: 1, rest: 275 * day,
		},
		{
			name: "the certificate was removed", before: fresh, spoil: without("tls.crt"), after: day, want: []step{issue},
			trusted: 1, rest: 275 * day,
		},
		{
			name: "the certificate's key is another's", before: fresh,
			spoil: func(data map[string][]byte) { data["tls.key"] = other["tls.key"] }, after: day, want: []step{issue},
			trusted: 1, rest: 275 * day,
		},
		{name: "the certificate is another authority's", before: fresh, spoil: func(data map[string][]byte) {
			data["tls.key"], data["tls.crt"] = other["tls.key"], other["tls.crt"]
		}, after: day, want: []step{issue}, trusted: 1, rest: 275 * day},
		{
			name: "all is nonsense", before: fresh, spoil: nonsense(slices.Collect(maps.Keys(fresh))...), after: day,
			want: []step{introduce, issue}, trusted: 1, rest: 275 * day,
		},
		{name: "a new authority is not known everywhere", before: overlapping, after: 6 * day, trusted: 2, rest: day},
		{name: "a new authority is known", before: overlapping, after: 7 * day, want: []step{issue}, trusted: 2, rest: 7 * day},
		{
			name: "the new authority's key was removed too", before: overlapping, spoil: without("ca.key"), after: day,
			want: []step{introduce}, trusted: 3, rest: 7 * day,
		},
		{name: "what is served ends before a new authority is known", before: overlapping, spoil: func(data map[string][]byte) {
			short := DefaultLifetimes()
			short.Certificate = 3 * day
			if err := short.do(issue, read(fresh, serverName, start), data, serverName, start); err != nil {
				t.Fatal(err)
			}
		}, after: 60 * time.Hour, want: []step{issue}, trusted: 2, rest: 276 * time.Hour},
		{name: "the old authority is still trusted", before: switched, after: 13 * day, trusted: 2, rest: day},
		{name: "the old authority is no longer needed", before: switched, after: 14 * day, want: []step{retire}, trusted: 1, rest: 268 * day},
	} {
		t.Run(test.name, func(t *testing.T) {
			data, now := maps.Clone(test.before), start.Add(test.after)
			if test.spoil != nil {
				test.spoil(data)
			}
			after, steps, rest := renewAt(t, data, now)
			if !slices.Equal(steps, test.want) || rest != test.rest {
				t.Errorf("took the steps %v, then a rest of %s; want %v, then %s", steps, rest, test.want, test.rest)
			}
			content := read(after, serverName, now)
			if content.serving == nil || content.authority == nil || len(content.trusted) != test.trusted {
				t.Errorf("afterwards %+v, want %d authorities", content, test.trusted)
			}
			if changed := !bytes.Equal(data["tls.crt"], after["tls.crt"]); changed != slices.Contains(test.want, issue) {
				t.Errorf("the certificate changed: %t", changed)
			}
		})
	}
}

// TestForThirtyYears renews for thirty years. At any time, every client whose
// bundle was current at most a week before, the overlap, trusts the certificate.
func TestForThirtyYears(t *testing.T) {
	type client struct {
		until  time.Time
		bundle []byte
	}
	var data map[string][]byte
	var clients []client
	authorities, certificates := map[string]bool{}, map[string]bool{}
	for now := start; now.Before(start.Add(30 * 365 * day)); {
		after, _, wait := renewAt(t, data, now)
		if data != nil {
			clients = append(clients, client{until: now.Add(7 * day), bundle: data[BundleKey]})
		}
		clients = slices.DeleteFunc(clients, func(c client) bool { return !now.Before(c.until) })
		for _, bundle := range append(clients, client{bundle: after[BundleKey]}) {
			seen := map[string][]byte{BundleKey: bundle.bundle, "tls.crt": after["tls.crt"], "tls.key": after["tls.key"]}
			if read(seen, serverName, now).serving == nil {
				t.Fatalf("on %s, a client whose bundle was current until %s does not trust the certificate", now, bundle.until)
			}
		}
		authorities[string(after["ca.key"])], certificates[string(after["tls.crt"])] = true, true
		data, now = after, now.Add(wait)
	}
	if len(authorities) != 4 || len(certificates) < 30 {
		t.Errorf("%d authorities and %d certificates", len(authorities), len(certificates))
	}
}

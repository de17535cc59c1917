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

// renewAt takes the steps that are due at a time, and returns the new data, the steps and the time until the next one.
func renewAt(t *testing.T, data map[string][]byte, currentTime time.Time) (map[string][]byte, []step, time.Duration) {
	t.Helper()
	keeper := NewKeeper(clocktesting.NewFakePassiveClock(currentTime), secretKey, serverName, DefaultLifetimes())
	secret := &corev1.Secret{Data: maps.Clone(data)}
	renewal, err := keeper.renew(secret)
	if err != nil {
		t.Fatal(err)
	}
	return secret.Data, renewal.steps, renewal.wait
}

func remove(names ...string) func(map[string][]byte) {
	return func(data map[string][]byte) {
		for _, name := range names {
			delete(data, name)
		}
	}
}

func spoil(names ...string) func(map[string][]byte) {
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
	foreign, _, _ := renewAt(t, nil, start)
	overlapping, _, _ := renewAt(t, map[string][]byte{
		BundleKey: fresh[BundleKey], "tls.crt": fresh["tls.crt"], "tls.key": fresh["tls.key"],
	}, start)
	switched, _, _ := renewAt(t, overlapping, start.Add(7*day))

	for _, test := range []struct {
		name    string
		data    map[string][]byte
		spoil   func(map[string][]byte)
		elapsed time.Duration
		want    []step
		trusted int
		// rest is the time until the next step.
		rest time.Duration
	}{
		{name: "nothing is due", data: fresh, elapsed: day, trusted: 1, rest: 274 * day},
		{name: "the certificate ends in less than 90 days", data: fresh, elapsed: 275 * day, want: []step{issue}, trusted: 1, rest: 275 * day},
		{name: "the certificate has ended", data: fresh, elapsed: 366 * day, want: []step{issue}, trusted: 1, rest: 275 * day},
		{
			name: "the authority ends in less than 90 days, the certificate has ended", data: fresh, elapsed: (3650 - 90) * day,
			want: []step{introduce, issue}, trusted: 1, rest: 275 * day,
		},
		{name: "both have ended", data: fresh, elapsed: 3651 * day, want: []step{introduce, issue}, trusted: 1, rest: 275 * day},
		{
			name: "the authority's key was removed", data: fresh, spoil: remove("ca.key"), elapsed: day,
			want: []step{introduce}, trusted: 2, rest: 7 * day,
		},
		{
			name: "the authority's key is another's", data: fresh,
			spoil: func(data map[string][]byte) { data["ca.key"] = foreign["ca.key"] }, elapsed: day, want: []step{introduce},
			trusted: 2, rest: 7 * day,
		},
		{
			name: "the authority's key is nonsense", data: fresh, spoil: spoil("ca.key"), elapsed: day,
			want: []step{introduce}, trusted: 2, rest: 7 * day,
		},
		{
			name: "the authority was removed", data: fresh, spoil: remove(BundleKey), elapsed: day,
			want: []step{introduce, issue}, trusted: 1, rest: 275 * day,
		},
		{
			name: "the authority is nonsense", data: fresh, spoil: spoil(BundleKey), elapsed: day,
			want: []step{introduce, issue}, trusted: 1, rest: 275 * day,
		},
		{
			name: "the certificate was removed", data: fresh, spoil: remove("tls.crt"), elapsed: day, want: []step{issue},
			trusted: 1, rest: 275 * day,
		},
		{
			name: "the certificate's key is another's", data: fresh,
			spoil: func(data map[string][]byte) { data["tls.key"] = foreign["tls.key"] }, elapsed: day, want: []step{issue},
			trusted: 1, rest: 275 * day,
		},
		{name: "the certificate is another authority's", data: fresh, spoil: func(data map[string][]byte) {
			data["tls.key"], data["tls.crt"] = foreign["tls.key"], foreign["tls.crt"]
		}, elapsed: day, want: []step{issue}, trusted: 1, rest: 275 * day},
		{
			name: "all is nonsense", data: fresh, spoil: spoil(slices.Collect(maps.Keys(fresh))...), elapsed: day,
			want: []step{introduce, issue}, trusted: 1, rest: 275 * day,
		},
		{name: "a new authority is not known everywhere", data: overlapping, elapsed: 6 * day, trusted: 2, rest: day},
		{name: "a new authority is known", data: overlapping, elapsed: 7 * day, want: []step{issue}, trusted: 2, rest: 7 * day},
		{
			name: "the new authority's key was removed too", data: overlapping, spoil: remove("ca.key"), elapsed: day,
			want: []step{introduce}, trusted: 3, rest: 7 * day,
		},
		{name: "what is served ends before a new authority is known", data: overlapping, spoil: func(data map[string][]byte) {
			short := DefaultLifetimes()
			short.Certificate = 3 * day
			if err := short.take(issue, read(fresh, serverName, start), data, serverName, start); err != nil {
				t.Fatal(err)
			}
		}, elapsed: 60 * time.Hour, want: []step{issue}, trusted: 2, rest: 276 * time.Hour},
		{name: "the old authority is still trusted", data: switched, elapsed: 13 * day, trusted: 2, rest: day},
		{name: "the old authority is no longer needed", data: switched, elapsed: 14 * day, want: []step{retire}, trusted: 1, rest: 268 * day},
	} {
		t.Run(test.name, func(t *testing.T) {
			data, currentTime := maps.Clone(test.data), start.Add(test.elapsed)
			if test.spoil != nil {
				test.spoil(data)
			}
			renewed, steps, rest := renewAt(t, data, currentTime)
			if !slices.Equal(steps, test.want) || rest != test.rest {
				t.Errorf("took the steps %v, then a rest of %s; want %v, then %s", steps, rest, test.want, test.rest)
			}
			content := read(renewed, serverName, currentTime)
			if content.serving == nil || content.authority == nil || len(content.trusted) != test.trusted {
				t.Errorf("afterwards %+v, want %d authorities", content, test.trusted)
			}
			if changed := !bytes.Equal(data["tls.crt"], renewed["tls.crt"]); changed != slices.Contains(test.want, issue) {
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
	for currentTime := start; currentTime.Before(start.Add(30 * 365 * day)); {
		renewed, _, wait := renewAt(t, data, currentTime)
		if data != nil {
			clients = append(clients, client{until: currentTime.Add(7 * day), bundle: data[BundleKey]})
		}
		clients = slices.DeleteFunc(clients, func(c client) bool { return !currentTime.Before(c.until) })
		for _, bundle := range append(clients, client{bundle: renewed[BundleKey]}) {
			seen := map[string][]byte{BundleKey: bundle.bundle, "tls.crt": renewed["tls.crt"], "tls.key": renewed["tls.key"]}
			if read(seen, serverName, currentTime).serving == nil {
				t.Fatalf("on %s, a client whose bundle was current until %s does not trust the certificate", currentTime, bundle.until)
			}
		}
		authorities[string(renewed["ca.key"])], certificates[string(renewed["tls.crt"])] = true, true
		data, currentTime = renewed, currentTime.Add(wait)
	}
	if len(authorities) != 4 || len(certificates) < 30 {
		t.Errorf("%d authorities and %d certificates", len(authorities), len(certificates))
	}
}

package guard

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	missing   = "Required addon 'base' is not installed or not available. (not installed)"
	early     = "2026-03-01T10:00:00Z"
	late      = "2026-03-01T11:00:00Z"
	lateThere = "2026-03-01T12:00:00+01:00" // the same moment as late
)

func condition(kind, status, reason, message, since string) string {
	return fmt.Sprintf(`{"type":%q,"status":%q,"reason":%q,"message":%q,"lastTransitionTime":%q}`, kind, status, reason, message, since)
}

func addOn(conditions ...string) string {
	return `{"metadata":{"name":"gateway"},"spec":{},"status":{"namespace":"x","conditions":[` + strings.Join(conditions, ",") + `]}}`
}

func degraded(message, since string) string {
	return condition(TypeDegraded, "True", Reason, message, since)
}

func available(status, reason, message, since string) string {
	return condition(TypeAvailable, status, reason, message, since)
}

var (
	progressing = condition("Progressing", "True", "Installing", "wait", early)
	leaseFresh  = available("True", "ManagedClusterAddOnLeaseUpdated", "renewed", early)
	leaseStale  = available("False", "ManagedClusterAddOnLeaseUpdateStopped", "stopped", early)
	held        = available("False", Reason, missing, early)

	leaseMissing = available("Unknown", "ManagedClusterAddOnLeaseNotFound", "unknown", late)
	lost         = available("Unknown", ReasonLost, "Registration agent stopped updating its lease.", late)
)

type mutation struct {
	name           string
	stored, update string
	// path and value describe the replacement. The path is empty if the mutation changes nothing.
	path, value string
}

var mutations = []mutation{
	{
		name:   "the write that sets Degraded turns Available",
		stored: addOn(leaseFresh), update: addOn(leaseFresh, degraded(missing, late)),
		path: "/status/conditions/0", value: available("False", Reason, missing, late),
	},
	{
		name:   "Degraded was True before for another reason: no earlier than the True it replaces",
		stored: addOn(degraded(missing, early)), update: addOn(degraded(missing, early), available("True", "Fine", "", late)),
		path: "/status/conditions/1", value: available("False", Reason, missing, late),
	},
	{
		name:   "times in different zones are compared as moments",
		stored: addOn(), update: addOn(available("True", "Fine", "", lateThere), degraded(missing, early)),
		path: "/status/conditions/0", value: available("False", Reason, missing, lateThere),
	},
	{
		name:   "a stored False is put back as it is",
		stored: addOn(degraded(missing, early), held), update: addOn(progressing, degraded(missing, early), leaseFresh),
		path: "/status/conditions/2", value: held,
	},
	{
		name:   "with unknown fields",
		stored: addOn(degraded(missing, early), strings.Replace(held, "{", `{"observedGeneration":9007199254740993,"x":{"y":1.50},`, 1)),
		update: addOn(leaseFresh, degraded(missing, early)),
		path:   "/status/conditions/0", value: strings.Replace(held, "{", `{"observedGeneration":9007199254740993,"x":{"y":1.50},`, 1),
	},
	{
		name:   "a stored False that says another reason keeps its time only",
		stored: addOn(degraded(missing, late), leaseStale), update: addOn(degraded(missing, late), available("True", "Fine", "", late)),
		path: "/status/conditions/1", value: available("False", Reason, missing, early),
	},
	{
		name:   "a stored False with an older message keeps its time only",
		stored: addOn(degraded(missing, early), held), update: addOn(degraded("more", early), available("True", "Fine", "", late)),
		path: "/status/conditions/1", value: available("False", Reason, "more", early),
	},
	{
		name: "a stored Unknown does not come back",
		stored: addOn(
			available("Unknown", "Lost", "", late),
			degraded(missing, early),
		), update: addOn(degraded(missing, early), available("True", "Fine", "", late)),
		path: "/status/conditions/1", value: available("False", Reason, missing, late),
	},
	{
		name:   "no status was stored",
		stored: `{"metadata":{"name":"gateway"}}`, update: addOn(degraded(missing, late), leaseFresh),
		path: "/status/conditions/1", value: available("False", Reason, missing, late),
	},
	{
		name:   "nothing was stored",
		update: addOn(degraded(missing, late), leaseFresh),
		path:   "/status/conditions/1", value: available("False", Reason, missing, late),
	},
	{
		name: "False for another reason is replaced, and keeps the time of the stored False",
		stored: addOn(
			held,
			degraded(missing, late),
		), update: addOn(available("False", "ManagedClusterAddOnLeaseUpdateStopped", "stopped", late), degraded(missing, late)),
		path: "/status/conditions/0", value: held,
	},
	{
		name:   "False for another reason is replaced when Degraded is set",
		stored: addOn(leaseStale), update: addOn(leaseStale, degraded(missing, late)),
		path: "/status/conditions/0", value: available("False", Reason, missing, early),
	},
	{
		name:   "Unknown of a missing lease is replaced by what is stored",
		stored: addOn(held, degraded(missing, early)), update: addOn(leaseMissing, degraded(missing, early)),
		path: "/status/conditions/0", value: held,
	},
	{
		name:   "Unknown of a missing lease is replaced when Degraded is set",
		stored: addOn(leaseMissing), update: addOn(leaseMissing, degraded(missing, early)),
		path: "/status/conditions/0", value: available("False", Reason, missing, late),
	},
	{
		name:   "the reason with an older message follows Degraded",
		stored: addOn(held, degraded(missing, early)), update: addOn(held, degraded("more", early)),
		path: "/status/conditions/0", value: available("False", Reason, "more", early),
	},
	{
		name:   "the reason of the lost cluster with another status is replaced",
		stored: addOn(held, degraded(missing, early)), update: addOn(available("False", ReasonLost, "", late), degraded(missing, early)),
		path: "/status/conditions/0", value: held,
	},
	{
		name:   "after the cluster's return",
		stored: addOn(lost, degraded(missing, early)), update: addOn(leaseMissing, degraded(missing, early)),
		path: "/status/conditions/0", value: available("False", Reason, missing, late),
	},
	{
		name:   "the hub reports that the cluster is lost",
		stored: addOn(held, degraded(missing, early)),
		update: addOn(lost, degraded(missing, early)),
	},
	{name: "Degraded is set on a lost cluster", stored: addOn(lost), update: addOn(lost, degraded(missing, early))},
	{name: "right already", stored: addOn(leaseFresh, degraded(missing, early)), update: addOn(held, degraded(missing, early))},
	{name: "no Available", stored: addOn(leaseFresh), update: addOn(degraded(missing, late))},
	{name: "no Degraded", stored: addOn(held, degraded(missing, early)), update: addOn(leaseFresh)},
	{
		name:   "Degraded is over",
		stored: addOn(held, degraded(missing, early)),
		update: addOn(leaseFresh, condition(TypeDegraded, "False", "DependenciesSatisfied", "", late)),
	},
	{name: "Degraded for another writer's reason", update: addOn(leaseFresh, condition(TypeDegraded, "True", "DiskFull", "", late))},
	{
		name:   "only an Optional dependency fails",
		update: addOn(leaseFresh, condition(TypeDegraded, "True", "DependencyNotSatisfied", "", late)),
	},
	{name: "our reason, but False", update: addOn(leaseFresh, condition(TypeDegraded, "False", Reason, "", late))},
	{name: "no conditions", stored: addOn(held), update: addOn()},
	{name: "conditions are null", stored: addOn(held), update: `{"status":{"conditions":null}}`},
	{name: "no status", stored: addOn(held), update: `{}`},
	{name: "keys are case-sensitive", update: strings.ReplaceAll(addOn(leaseFresh, degraded(missing, late)), `"status":{`, `"Status":{`)},
}

func TestMutate(t *testing.T) {
	for _, test := range mutations {
		t.Run(test.name, func(t *testing.T) {
			patch, err := Mutate([]byte(test.stored), []byte(test.update))
			if err != nil {
				t.Fatal(err)
			}
			if test.path == "" {
				if patch != nil {
					t.Errorf("unexpected change %v", patch)
				}
				return
			}
			if len(patch) != 1 || patch[0].Operation != "replace" || patch[0].Path != test.path {
				t.Fatalf("%v is not one replacement of %s", patch, test.path)
			}
			got, err := json.Marshal(patch[0].Value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(exactly(t, test.value), exactly(t, string(got))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMutateNamesWhatItCannotRead(t *testing.T) {
	for name, test := range map[string]struct{ stored, update, want string }{
		"no JSON":                  {update: `{`, want: "object to be written"},
		"a condition is no object": {update: `{"status":{"conditions":[7]}}`, want: "status.conditions[0]"},
		"stored is no JSON":        {stored: `[]`, update: addOn(degraded(missing, late), leaseFresh), want: "stored object"},
		"Degraded has no time":     {update: addOn(degraded(missing, "now"), leaseFresh), want: "lastTransitionTime of Degraded"},
		"Available has no time": {
			update: addOn(degraded(missing, late), available("True", "Fine", "", "")), want: "lastTransitionTime of Available",
		},
	} {
		t.Run(name, func(t *testing.T) {
			patch, err := Mutate([]byte(test.stored), []byte(test.update))
			if err == nil || !strings.Contains(err.Error(), test.want) || patch != nil {
				t.Errorf("patch %v, error %v", patch, err)
			}
		})
	}
}

// exactly decodes JSON without losing digits of a number.
func exactly(t *testing.T, text string) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

package evaluation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/text"
)

// String prints the state on one line: the cluster, then each add-on.
func (s State) String() string {
	parts := []string{s.Cluster.String()}
	for i := range s.AddOns {
		parts = append(parts, s.AddOns[i].String())
	}
	return strings.Join(parts, "; ")
}

// String prints what is known of the cluster.
func (c Cluster) String() string {
	known := []string{"Available=" + orNone(string(c.Available))}
	known = appendKnown(known, "back", moment(c.Back))
	known = appendKnown(known, "kubernetes", c.KubernetesVersion)
	known = appendKnown(known, "ocm", c.OCMVersion)
	if c.OCMUnread {
		known = append(known, "ocm not read yet")
	}
	known = appendValues(known, "labels", c.Labels)
	known = appendValues(known, "claims", c.Claims)
	for _, api := range slices.SortedFunc(maps.Keys(c.Facts.APIs), catalog.CompareAPIs) {
		known = append(known, fmt.Sprintf("%s served=%s", apiName(api), orNone(string(c.Facts.APIs[api].Served))))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Facts.Versions)) {
		known = append(known, fmt.Sprintf("%s reports version %s", name, orNone(c.Facts.Versions[name].Version)))
	}
	known = appendKnown(known, "requested", moment(c.Facts.Requested))
	known = appendKnown(known, "facts held until", moment(c.Facts.HeldUntil))
	return fmt.Sprintf("cluster %s (%s)", c.Name, strings.Join(known, ", "))
}

// String prints what is known of the add-on.
func (o Observation) String() string {
	if !o.Installed {
		return fmt.Sprintf("add-on %s (not installed)", o.Name)
	}
	known := []string{"Available=" + statusOf(o.Available)}
	if o.Degraded != nil {
		known = append(known, "Degraded="+statusOf(o.Degraded))
	}
	known = appendKnown(known, "found", moment(o.Found))
	known = appendKnown(known, "version", o.Version)
	known = appendKnown(known, "former version", o.FormerVersion)
	known = appendKnown(known, "template version", o.Template.Running)
	known = appendKnown(known, "rolling out", o.Template.RollingOut)
	if o.Template.Unknown {
		known = append(known, "template version not known yet")
	}
	known = appendValues(known, "labels", o.Labels)
	known = appendValues(known, "annotations", o.Annotations)
	known = appendValues(known, "config", o.Config)
	if o.ConfigUnread {
		known = append(known, "config not read yet")
	}
	return fmt.Sprintf("add-on %s (%s)", o.Name, strings.Join(known, ", "))
}

func statusOf(condition *metav1.Condition) string {
	if condition == nil {
		return "(none)"
	}
	return string(condition.Status) + "/" + condition.Reason
}

func orNone(value string) string {
	if value == "" {
		return "(none)"
	}
	return text.OneLine(value)
}

func moment(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

func appendKnown(to []string, name, value string) []string {
	if value == "" {
		return to
	}
	return append(to, name+" "+text.OneLine(value))
}

func appendValues(to []string, name string, values map[string]string) []string {
	if len(values) == 0 {
		return to
	}
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		pairs = append(pairs, text.OneLine(key+"="+values[key]))
	}
	return append(to, name+" "+strings.Join(pairs, " "))
}

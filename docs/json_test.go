package docs

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli"
	"open-cluster-management.io/interlock/pkg/cli/install"
	"open-cluster-management.io/interlock/pkg/cli/statuscmd"
	"open-cluster-management.io/interlock/pkg/cli/upgrade"
	"open-cluster-management.io/interlock/pkg/cli/verify"
	"open-cluster-management.io/interlock/pkg/offline/airgap"
	"open-cluster-management.io/interlock/pkg/offline/index"
	"open-cluster-management.io/interlock/pkg/report"
)

// outputs are the outputs of verbs as data: the heading of the fields in docs/json.md, a
// value of the type, and the command. Without a command, the verb needs a hub.
var outputs = []struct {
	heading, verb string
	value         any
	command       string
}{
	{"AddOnDependencyReportList", "report", report.DependencyReports{}, "report --all"},
	{"AddOnLock", "resolve", index.Lock{}, "resolve " + resolvable + " --locked"},
	{"AddOnDescription", "describe", report.Description{}, "describe application-portal"},
	{"ComponentVersions", "version", report.ComponentVersions{}, ""},
	{"DependencyGraph", "graph", report.Graph{}, "graph"},
	{"DependencySuggestions", "suggest", report.Suggestions{}, ""},
	{"DependencySummary", "status --summary", report.Summary{}, "status --summary"},
	{"DependencyTrees", "tree", report.Trees{}, "tree application-portal"},
	{"Diagnosis", "doctor", report.Diagnosis{}, ""},
	{"Impact", "impact", report.Impact{}, "impact --install tunnel-user --placement docs/examples/global-placement.yaml"},
	{"Lint", "lint", report.Lint{}, "lint docs/examples/gateway.yaml"},
	{"List", "install --plan", install.List{}, ""}, // kubectl reads it, so its kind is not Interlock's
	{"AddOnUpgrade", "upgrade", upgrade.Upgrade{}, "upgrade " + resolvable},
	{"LockVerification", "verify", verify.Verification{}, "verify " + resolvable},
	{"RemovalPlan", "uninstall --plan", report.RemovalPlan{}, "uninstall application-portal --cluster cluster1 --plan"},
	{"RootCauses", "why", report.RootCauses{}, "why"},
	{"Runbook", "runbook", report.Runbook{}, "runbook InterlockDown"},
	{"Rows", "status", []statuscmd.Row{}, "status -A"},
	{"Timeline", "events", report.Timeline{}, "events"},
}

// resolvable are wishes, their lock and an index.
const resolvable = "docs/examples/resolve/addons.yaml --index docs/examples/resolve/index"

var fieldRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]+) \\| [^|]+ \\|$")

// fieldsOnPage returns the fields of a kind on the page, with their types.
func fieldsOnPage(page, heading string) map[string]string {
	_, section, _ := strings.Cut(page, "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	fields := map[string]string{}
	for _, row := range fieldRow.FindAllStringSubmatch(section, -1) {
		fields[row[1]] = row[2]
	}
	return fields
}

func TestEveryFieldOfJSONIsExplained(t *testing.T) {
	for _, kind := range outputs {
		explains(t, "docs/json.md", kind.heading, kind.value)
	}
}

func TestEveryFieldOfAFileIsExplained(t *testing.T) {
	explains(t, "docs/resolve.md", index.WishesKind, index.Wishes{})
	explains(t, "docs/resolve.md", index.ReleaseKind, index.Release{})
	explains(t, "docs/air-gap.md", airgap.Kind, airgap.Description{})
}

// explains compares the fields of a type with the fields that a page explains.
func explains(t *testing.T, page, heading string, value any) {
	t.Helper()
	want := map[string]string{}
	addFields(want, "", reflect.TypeOf(value))
	got := fieldsOnPage(read(t, page), heading)
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if got[path] != want[path] {
			t.Errorf("%s, %s: `%s` is %q, expected %q", page, heading, path, got[path], want[path])
		}
		delete(got, path)
	}
	if len(got) > 0 {
		t.Errorf("%s, %s: no such fields: %q", page, heading, slices.Sorted(maps.Keys(got)))
	}
}

func TestEveryVerbWithJSONIsExplained(t *testing.T) {
	explained := map[string]bool{}
	for _, kind := range outputs {
		verb, _, _ := strings.Cut(kind.verb, " ")
		explained[verb] = true
	}
	for _, verb := range cli.NewCommand(genericiooptions.NewTestIOStreamsDiscard()).Commands() {
		if hasOutput := verb.Flag("output") != nil; hasOutput != explained[verb.Name()] {
			t.Errorf("%s has --output: %t; docs/json.md has its kind: %t", verb.Name(), hasOutput, explained[verb.Name()])
		}
	}
}

// Output has the kind and the fields of the page, and all fields that are not optional.
func TestJSONIsAsThePageExplains(t *testing.T) {
	page := read(t, "docs/json.md")
	for _, kind := range outputs {
		if row := fmt.Sprintf("| `%s` | [%s](#%s) |", kind.verb, kind.heading, strings.ToLower(kind.heading)); !strings.Contains(page, row) {
			t.Errorf("docs/json.md does not have the row %s", row)
		}
		if kind.command == "" {
			continue
		}
		t.Run(kind.command, func(t *testing.T) {
			out := plugin(t, kind.command+" -o json --from docs/examples/fleet.yaml")
			var data any
			if err := json.Unmarshal([]byte(out), &data); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if object, ok := data.(map[string]any); ok {
				if object["kind"] != kind.heading || object["apiVersion"] != report.APIVersion {
					t.Errorf("kind %v of %v", object["kind"], object["apiVersion"])
				}
				delete(object, "kind")
				delete(object, "apiVersion")
			}
			compareFields(t, "", data, fieldsOnPage(page, kind.heading))
		})
	}
}

// compareFields compares output with the fields on the page. If a field has no fields of its
// own on the page, they are explained elsewhere.
func compareFields(t *testing.T, path string, value any, explained map[string]string) {
	t.Helper()
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			compareFields(t, path+"[]", item, explained)
		}
	case map[string]any:
		prefix, count := strings.TrimPrefix(path+".", "."), 0
		for field, kind := range explained {
			name, ok := strings.CutPrefix(field, prefix)
			if !ok || strings.ContainsAny(name, ".") {
				continue
			}
			count++
			if _, ok := value[name]; !ok && !strings.HasSuffix(kind, optional) {
				t.Errorf("not printed, and not optional: %s", field)
			}
		}
		for name, field := range value {
			if count == 0 {
				break
			}
			if explained[prefix+name] == "" {
				t.Errorf("printed, and not explained: %s", prefix+name)
			}
			if field == nil {
				t.Errorf("null is printed: %s", prefix+name)
			}
			compareFields(t, prefix+name, field, explained)
		}
	}
}

// optional ends the type of a field that can be missing.
const optional = ", optional"

// explainedElsewhere are types whose fields are not on the page.
var explainedElsewhere = []reflect.Type{
	reflect.TypeFor[metav1.ObjectMeta](), reflect.TypeFor[metav1.ListMeta](), reflect.TypeFor[addonv1alpha1.AddonDependency](),
}

// addFields adds the fields of a type and of the types in it, by path, with their types.
// outerTypes are the types around it. A type that contains itself is explained once.
func addFields(fields map[string]string, path string, typ reflect.Type, outerTypes ...reflect.Type) {
	switch {
	case typ.Kind() == reflect.Pointer:
		addFields(fields, path, typ.Elem(), outerTypes...)
	case typ.Kind() == reflect.Slice:
		addFields(fields, path+"[]", typ.Elem(), outerTypes...)
	case typ.Kind() == reflect.Map, typeOf(typ) != "object" || slices.Contains(explainedElsewhere, typ) || slices.Contains(outerTypes, typ):
	default:
		for i := range typ.NumField() {
			field := typ.Field(i)
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			fieldPath := strings.TrimPrefix(path+"."+name, ".")
			switch {
			case path == "" && field.Type == reflect.TypeFor[metav1.TypeMeta](): // the same everywhere
			case name == "" && field.Anonymous:
				addFields(fields, path, field.Type, append(outerTypes, typ)...)
			case field.IsExported():
				if fields[fieldPath] = typeOf(field.Type); strings.Contains(options, "omitzero") ||
					strings.Contains(options, "omitempty") && field.Type.Kind() != reflect.Struct {
					fields[fieldPath] += optional
				}
				addFields(fields, fieldPath, field.Type, append(outerTypes, typ)...)
			}
		}
	}
}

// typeOf returns the page's name of a type.
func typeOf(typ reflect.Type) string {
	switch typ.Kind() {
	case reflect.Pointer:
		return typeOf(typ.Elem())
	case reflect.Slice:
		return "list of " + typeOf(typ.Elem()) + "s"
	case reflect.Map:
		if typ.Elem().Kind() == reflect.Interface { // of any kind
			return "object"
		}
		return "map of " + typeOf(typ.Elem()) + "s"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "integer"
	case reflect.Struct:
		if typ == reflect.TypeFor[time.Time]() || typ == reflect.TypeFor[metav1.Time]() {
			return "time"
		}
		return "object"
	default:
		return typ.Kind().String()
	}
}

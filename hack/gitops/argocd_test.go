package gitops

import (
	"context"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
)

// health returns the status and the message of Argo CD's check for an object. Without
// useOpenLibs, Argo CD opens the libraries package, base and table, and its own library for
// os. A check may take a second.
func health(t *testing.T, checked *unstructured.Unstructured) (status, message string) {
	t.Helper()
	var settings corev1.ConfigMap
	read(t, "argocd-cm.yaml", &settings)
	kind := checked.GroupVersionKind()
	script := settings.Data["resource.customizations.health."+kind.Group+"_"+kind.Kind]
	if script == "" {
		t.Fatalf("no check of %s", kind)
	}
	machine := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer machine.Close()
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}} {
		if err := machine.CallByParam(lua.P{Fn: machine.NewFunction(library.open), Protect: true}, lua.LString(library.name)); err != nil {
			t.Fatal(err)
		}
	}
	limited, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	machine.SetContext(limited)
	machine.SetGlobal("obj", value(machine, checked.Object))
	if err := machine.DoString(script); err != nil {
		t.Fatal(err)
	}
	result, ok := machine.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("the check returns %s", machine.Get(-1).Type())
	}
	return result.RawGetString("status").String(), result.RawGetString("message").String()
}

// value converts a part of an object to a Lua value.
func value(machine *lua.LState, part any) lua.LValue {
	switch read := part.(type) {
	case map[string]any:
		table := machine.NewTable()
		for name, element := range read {
			table.RawSetString(name, value(machine, element))
		}
		return table
	case []any:
		table := machine.NewTable()
		for _, element := range read {
			table.Append(value(machine, element))
		}
		return table
	case string:
		return lua.LString(read)
	case bool:
		return lua.LBool(read)
	case int64:
		return lua.LNumber(read)
	case float64:
		return lua.LNumber(read)
	default:
		return lua.LNil
	}
}

func TestArgoCDOnAddOns(t *testing.T) {
	for _, test := range states(t) {
		t.Run(test.name, func(t *testing.T) {
			status, message := health(t, object(t, test.addOn, "ManagedClusterAddOn", test.noStatus))
			if status != test.argo || message != test.message {
				t.Errorf("it is %s: %s\nwant %s: %s", status, message, test.argo, test.message)
			}
		})
	}
}

func TestArgoCDOnRegistrations(t *testing.T) {
	progression := func(status metav1.ConditionStatus, reason, message string) ocmv1alpha1.InstallProgression {
		return ocmv1alpha1.InstallProgression{Conditions: []metav1.Condition{reported("Progressing", status, reason, message)}}
	}
	completed := progression("False", ocmv1alpha1.ProgressingReasonCompleted, "2/2 completed with no errors.")
	for name, test := range map[string]struct {
		placements        []ocmv1alpha1.InstallProgression
		noStatus, deleted bool
		status, message   string
	}{
		"without a status":  {noStatus: true, status: "Healthy", message: "The add-on is registered."},
		"without placement": {status: "Healthy", message: "The add-on is registered."},
		"installed":         {placements: []ocmv1alpha1.InstallProgression{completed}, status: "Healthy", message: "The add-on is registered."},
		"being installed": {
			placements: []ocmv1alpha1.InstallProgression{
				progression("True", ocmv1alpha1.ProgressingReasonProgressing, "1/2 progressing..."), completed,
			},
			status: "Progressing", message: "1/2 progressing...",
		},
		"failed": {
			placements: []ocmv1alpha1.InstallProgression{completed, progression("False", ocmv1alpha1.ProgressingReasonFailed, "1/2 failed.")},
			status:     "Degraded", message: "1/2 failed.",
		},
		"deleted": {deleted: true, status: "Progressing", message: "The add-on is being deleted."},
	} {
		t.Run(name, func(t *testing.T) {
			registered := &ocmv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "gateway"}}
			registered.Status.InstallProgressions = test.placements
			if test.deleted {
				registered.DeletionTimestamp = &transitionTime
			}
			status, message := health(t, object(t, registered, "ClusterManagementAddOn", test.noStatus))
			if status != test.status || message != test.message {
				t.Errorf("it is %s: %s\nwant %s: %s", status, message, test.status, test.message)
			}
		})
	}
}

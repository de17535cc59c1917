// Package guard has the guard, a rule that applies to all writers: an add-on with a failing
// Required dependency is not Available. The rule exists as a
// MutatingAdmissionPolicy, and as a webhook with the function Mutate. Both
// rewrite a status before it is stored.
//
// The package is needed until OCM's writers of Available (the registration agent,
// the hub's registration controller and addon-framework's health prober) follow
// the rule of the add-on dependency proposal. The package can be deleted once no
// supported klusterlet or add-on lacks the rule. Nothing else in Interlock
// depends on it: addon-agent keeps the rule alone, with moments of True between.
package guard

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/manifests"
	"open-cluster-management.io/interlock/pkg/compat/rule"
	"open-cluster-management.io/interlock/pkg/names"
)

// Name is the name of each of the guard's objects.
const Name = names.Guard

// Rule is the guard.
var Rule = rule.Rule{
	Title: "Guard", Controller: "guard", Name: Name, Files: manifests.Guard, Folder: "guard", Path: Path,
	Probed: []metav1.Condition{
		{Type: TypeDegraded, Status: metav1.ConditionTrue, Reason: Reason},
		{Type: TypeAvailable, Status: metav1.ConditionTrue, Reason: "Probe"},
	},
	Changed: func(stored []metav1.Condition) bool { return !meta.IsStatusConditionTrue(stored, TypeAvailable) },
	Warning: "Nothing guards Available on this hub. Stock writers may set it to True until addon-agent corrects it",
}

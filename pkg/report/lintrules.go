package report

import (
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
)

// The rules that only files can break, or only a hub shows. LintRules describes them.
const (
	RuleInvalidPolicy        review.Rule = "InvalidPolicy"
	RuleUnreadable           review.Rule = "Unreadable"
	RuleUnknownKind          review.Rule = "UnknownKind"
	RuleInvalidValue         review.Rule = "InvalidValue"
	RuleUnknownField         review.Rule = "UnknownField"
	RuleInvalidVersion       review.Rule = "InvalidVersion"
	RuleInvalidObject        review.Rule = "InvalidObject"
	RuleDuplicateObject      review.Rule = "DuplicateObject"
	RuleRegisteredTwice      review.Rule = "RegisteredTwice"
	RuleNotPlaced            review.Rule = "DependencyNotPlaced"
	RuleTemplateNotSupported review.Rule = "TemplateNotSupported"
)

// LintRule describes a rule.
type LintRule struct {
	Name        review.Rule
	Severity    Severity
	Description string
}

// LintRules are all rules.
var LintRules = []LintRule{
	{RuleUnreadable, SeverityError, "The file, or an object in it, cannot be decoded. The other files are still checked."},
	{RuleInvalidPolicy, SeverityError, "An override of an AddOnDependencyPolicy cannot be used."},
	{RuleUnknownKind, SeverityError, "The API version or kind is none of OCM's, as in `ClusterManagementAddon`."},
	{RuleUnknownField, SeverityError, "The ClusterManagementAddOn has a field that the CRD does not have, or has one twice."},
	{RuleInvalidValue, SeverityError, "A field of OCM has a value that the CRD does not allow, or a required one is missing."},
	{RuleInvalidVersion, SeverityError, "The version that an annotation reports is no semantic version with three numbers, as an index needs."},
	{
		RuleInvalidObject, SeverityError,
		"No API server takes an object of the add-on: it has no `apiVersion` or name, a field twice, or a value of `data` that is no string.",
	},
	{RuleDuplicateObject, SeverityError, "The add-on has an object of one kind, namespace and name with two contents."},
	{review.RuleInvalidName, SeverityError, "The name is missing, or no object can have it."},
	{RuleRegisteredTwice, SeverityError, "The files have a ClusterManagementAddOn of the same name twice."},
	{review.Rule(declaration.ProblemInvalid), SeverityError, "The declaration cannot be used."},
	{review.Rule(declaration.ProblemDuplicate), SeverityError, "A dependency is listed twice."},
	{review.Rule(declaration.ProblemCycle), SeverityError, "Add-ons require each other, so none of them can ever be available."},
	{
		review.RuleImpossible, SeverityError,
		"The dependency can never be satisfied: no add-on can have its name, or the add-on conflicts with itself, with " +
			"one that it requires, or with all alternatives.",
	},
	{
		review.Rule(declaration.ProblemUndeclared), SeverityError,
		"An expression reads the settings of a dependency that is not declared, or is on no add-on.",
	},
	{
		review.Rule(declaration.ProblemInterlockVersion), SeverityWarning,
		"The declaration is for another version of Interlock than that of the plugin.",
	},
	{review.Rule(declaration.ProblemDeclaredTwice), SeverityWarning, "Fields and annotation both declare, and differ. The fields count."},
	{review.Rule(declaration.ProblemNotRegistered), SeverityWarning, "The dependency has no ClusterManagementAddOn."},
	{review.Rule(declaration.ProblemConditionalCycle), SeverityWarning, "Some conditions could close a cycle."},
	{review.RuleConflict, SeverityWarning, "Two ranges of versions on one dependency exclude each other."},
	{review.RuleEveryVersion, SeverityWarning, "A range such as `>= 0.0.0` has every release, but no add-on that reports no version."},
	{review.RuleNoVersion, SeverityWarning, "No version is in the range of a dependency or a requirement, as in `>= 2, < 1`."},
	{
		review.RuleVersionNotReported, SeverityWarning,
		"A range is on an add-on of which no version is known, on some managed clusters or on the hub. Only with " +
			"`--live` or `--from`.",
	},
	{review.RuleNoMessage, SeverityWarning, "The dependency has no message."},
	{review.RuleLongChain, SeverityWarning, "A chain of more than five Required dependencies begins at the add-on."},
	{
		review.RuleUpgradesNotOrdered, SeverityWarning,
		"`InstallAndUpgrade` is declared for an add-on that its own manager deploys: its upgrades do not wait.",
	},
	{RuleNotPlaced, SeverityWarning, "Placements install the add-on on managed clusters where its Required dependency is not installed."},
	{
		RuleTemplateNotSupported, SeverityWarning,
		"An AddOnTemplate declares something, and its ClusterManagementAddOn does not support AddOnTemplates.",
	},
}

package preflight

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"open-cluster-management.io/interlock/pkg/cli/components"
	"open-cluster-management.io/interlock/pkg/cli/doctor"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd/applyset"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd/hubrecord"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// Elsewhere returns the flag for a namespace that is not the usual one.
func Elsewhere(namespace string) string {
	if namespace == components.DefaultNamespace {
		return ""
	}
	return " --interlock-namespace " + namespace
}

func host(repository string) string {
	name, _, _ := strings.Cut(repository, "/")
	return name
}

func openClusterManagement(f *Facts) []result {
	const upgrade = "clusteradm upgrade clustermanager"
	switch version, err := semver.NewVersion(f.OCM.Version); {
	case !f.OCM.Installed:
		return []result{failed("clusteradm init --wait",
			"This cluster is no hub: it does not serve the ManagedClusterAddOns of Open Cluster Management")}
	case f.OCM.Version == "" || err != nil:
		return []result{{report.CheckNote, "Open Cluster Management does not report its version", "docs/compatibility.md"}}
	case !version.LessThan(semver.MustParse(doctor.OldestOCM)):
		return passed("Open Cluster Management %s", f.OCM.Version)
	case f.Placement != nil:
		return []result{failed(upgrade, "Open Cluster Management %s cannot deploy addon-agent: agent.install=true needs %s", f.OCM.Version, doctor.OldestOCM)}
	default:
		message := fmt.Sprintf("Open Cluster Management %s is older than %s, so it cannot deploy addon-agent later", f.OCM.Version, doctor.OldestOCM)
		return []result{{report.CheckNote, message, upgrade}}
	}
}

// installation checks that the command fits the installation on the hub.
func installation(f *Facts) []result {
	at := Elsewhere(f.Namespace)
	switch record := f.Record; {
	case record == nil && f.Upgrade && len(f.problems(applyset.Foreign)) > 0:
		return nil // the check of the ownership names the tool
	case record == nil && f.Upgrade:
		return []result{failed("kubectl addon hub install RELEASE"+at, "kubectl addon hub has not installed Interlock in the namespace %s", f.Namespace)}
	case record == nil:
		return passed("Interlock %s is to be installed in the namespace %s", f.Version, f.Namespace)
	case record.State == hubrecord.Uninstalling && f.Upgrade:
		return []result{failed("kubectl addon hub uninstall"+at, "Interlock %s is being uninstalled", record.Version)}
	case record.State == hubrecord.Installed && !f.Upgrade:
		return []result{failed("kubectl addon hub upgrade RELEASE"+at, "Interlock %s is installed already", record.Version)}
	case isOlder(f.Version, record.Version) && !f.AllowDowngrade:
		return []result{failed("add --allow-downgrade if this is intended, after you have read the changelog",
			"Interlock %s is older than the installed version %s", f.Version, record.Version)}
	case record.State == hubrecord.Installed && record.Version == f.Version:
		return passed("Interlock stays at version %s", record.Version)
	case record.State == hubrecord.Installed:
		return passed("Interlock %s becomes %s", record.Version, f.Version)
	default:
		return []result{{report.CheckNote, fmt.Sprintf("An earlier command for Interlock %s was interrupted. This one goes on", record.Version), ""}}
	}
}

// isOlder reports whether a version is older than the installed one. Versions that cannot be compared are not.
func isOlder(version, installed string) bool {
	v, err := semver.NewVersion(version)
	if err != nil {
		return false
	}
	i, err := semver.NewVersion(installed)
	return err == nil && v.LessThan(i)
}

// ownership checks that no other tool manages the objects.
func ownership(f *Facts) []result {
	foreign := map[applyset.Owner][]string{}
	var owners []applyset.Owner
	for _, problem := range f.problems(applyset.Foreign) {
		if foreign[problem.Owner] == nil {
			owners = append(owners, problem.Owner)
		}
		foreign[problem.Owner] = append(foreign[problem.Owner], problem.Object)
	}
	slices.SortFunc(owners, func(a, b applyset.Owner) int { return strings.Compare(a.String(), b.String()) })
	var results []result
	for _, owner := range owners {
		names := foreign[owner]
		if owner.IsHelm() {
			results = append(results, failed(
				fmt.Sprintf("helm upgrade %s CHART -n %s --reuse-values, or helm uninstall %[1]s -n %[2]s", owner.Release, owner.Namespace),
				"Only Helm may change the objects of %s: %d, such as %s", owner, len(names), names[0]))
			continue
		}
		results = append(results, failed("add --take-ownership to take them over, or delete them",
			"Objects of %s exist already: %d, such as %s", owner, len(names), names[0]))
	}
	for _, problem := range f.problems(applyset.Conflicting) {
		results = append(results, failed("add --take-ownership to overwrite these fields",
			"%s has fields that another writer has changed: %s", problem.Object, problem.Message))
	}
	return results
}

func (f *Facts) problems(cause applyset.Cause) []applyset.Problem {
	var problems []applyset.Problem
	if f.Plan == nil {
		return nil
	}
	for _, problem := range f.Plan.Problems {
		if problem.Cause == cause {
			problems = append(problems, problem)
		}
	}
	return problems
}

const rightsPage = "docs/install.md#rights-of-the-installer"

func rights(f *Facts) []result {
	if f.Plan == nil {
		return nil
	}
	var results []result
	if forbidden := f.problems(applyset.Forbidden); len(forbidden) > 0 {
		results = append(results, failed(rightsPage, "The hub refuses you %s, such as %s: %s",
			text.Count(len(forbidden), "object"), forbidden[0].Object, text.Cut(forbidden[0].Message, maxMessage)))
	}
	if len(f.Denied) > 0 {
		results = append(results, failed(rightsPage, "You lack %s, such as %s", text.Count(len(f.Denied), "right"), f.Denied[0]))
	}
	if len(results) == 0 && len(f.Plan.Steps) > 0 {
		return passed("You have the rights to apply %s", text.Count(len(f.Plan.Steps), "object"))
	}
	return results
}

// maxMessage is the length of a message of the hub, which may list many rights.
const maxMessage = 400

// objects checks that the hub serves all kinds, and that admission accepts the objects.
func objects(f *Facts) []result {
	var results []result
	for _, problem := range f.problems(applyset.Unknown) {
		results = append(results, failed("install what serves this kind, or leave out the value that needs it: "+page,
			"The hub does not serve the kind of %s: %s", problem.Object, text.Cut(problem.Message, maxMessage)))
	}
	for _, problem := range f.problems(applyset.Refused) {
		results = append(results, failed("kubectl get validatingadmissionpolicies,validatingwebhookconfigurations",
			"The hub refuses %s: %s", problem.Object, text.Cut(problem.Message, maxMessage)))
	}
	return results
}

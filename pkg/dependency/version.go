package dependency

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// anyVersion is the range that accepts every version, known or not.
const anyVersion = "*"

const doesNotMatch = "does not match"

// VersionSource says where the version of an add-on comes from.
type VersionSource string

// The sources, in the order in which they count.
const (
	// VersionFromLease: the add-on's agent reports it on its lease.
	VersionFromLease VersionSource = "its agent's lease"
	// VersionFromTemplate: the AddOnTemplate that runs on the cluster.
	VersionFromTemplate VersionSource = "its AddOnTemplate"
	// VersionFromAddOn: the annotation of the ManagedClusterAddOn.
	VersionFromAddOn VersionSource = "its ManagedClusterAddOn"
	// VersionFromRegistration: the annotation of the ClusterManagementAddOn.
	VersionFromRegistration VersionSource = "its ClusterManagementAddOn"
)

// Version is the version of an add-on; the zero value where none is known.
type Version struct {
	Number string
	Source VersionSource
	// RollingOut is the version that is about to replace it; empty where none
	// is known.
	RollingOut string
}

// AnnotatedVersion is the version in the annotations of one object.
type AnnotatedVersion struct {
	// Current has the annotation's key of today, Former the one of before.
	Current, Former string
}

// VersionIn reads the version in the annotations of an object.
func VersionIn(annotations map[string]string) AnnotatedVersion {
	return AnnotatedVersion{
		Current: annotations[addonv1alpha1.AddOnVersionAnnotation],
		Former:  annotations[addonv1alpha1.FormerVersionAnnotation],
	}
}

// TemplateVersion is the version of one AddOnTemplate: its annotation, else its label.
func TemplateVersion(annotations, labels map[string]string) string {
	if version := strings.TrimSpace(annotations[addonv1alpha1.AddOnVersionAnnotation]); version != "" {
		return version
	}
	return labels[addonv1alpha1.TemplateVersionLabel]
}

// TemplateVersions are the versions of the AddOnTemplates of one add-on on one
// managed cluster. The zero value is that of an add-on without a template.
type TemplateVersions struct {
	// Running is the version of the template that runs on the cluster.
	Running string
	// RollingOut is the version of another template that is being rolled out there.
	RollingOut string
	// Unknown: which version runs is not known now, but will be: the templates could
	// not be read yet, or a rollout has begun and OCM does not say from which.
	Unknown bool
}

// VersionSources are the versions of one add-on on one managed cluster, by source.
type VersionSources struct {
	Lease, AddOn, Registration AnnotatedVersion
	Template                   TemplateVersions
}

// RunningVersion picks the version that counts: that of the lease of the add-on's
// agent, else of its AddOnTemplate, else of its ManagedClusterAddOn, else of its
// ClusterManagementAddOn. Former keys come last. An annotation of blanks is none.
func RunningVersion(sources VersionSources) Version {
	for _, candidate := range []Version{
		{Number: sources.Lease.Current, Source: VersionFromLease},
		{Number: sources.Template.Running, Source: VersionFromTemplate, RollingOut: sources.Template.RollingOut},
		{Number: sources.AddOn.Current, Source: VersionFromAddOn},
		{Number: sources.Registration.Current, Source: VersionFromRegistration},
		{Number: sources.Lease.Former, Source: VersionFromLease},
		{Number: sources.AddOn.Former, Source: VersionFromAddOn},
		{Number: sources.Registration.Former, Source: VersionFromRegistration},
	} {
		if candidate.Number = strings.TrimSpace(candidate.Number); candidate.Number == "" {
			continue
		}
		if candidate.RollingOut = strings.TrimSpace(candidate.RollingOut); candidate.RollingOut == candidate.Number {
			candidate.RollingOut = ""
		}
		return candidate
	}
	return Version{}
}

// versionRange is a compiled range of versions.
type versionRange struct {
	constraints *semver.Constraints
	// prereleases are accepted: all of them, or those with one of identifiers.
	prereleases bool
	identifiers []string
	// everything is accepted, whether known or not.
	everything bool
}

// errRange explains a range that cannot be read; the library only repeats it.
var errRange = errors.New(`must be a range of semantic versions, such as ">= 1.2 < 2.0", "^1.2" or "1.2.x || 1.4.x"`)

// parseRange reads a range; prereleases is nil where only releases match, but
// for a range that names a prerelease itself.
func parseRange(text string, prereleases *addonv1alpha1.DependencyPrereleases) (*versionRange, error) {
	if strings.TrimSpace(text) == anyVersion {
		return &versionRange{everything: true}, nil
	}
	constraints, err := semver.NewConstraint(text)
	if err != nil || strings.TrimSpace(text) == "" {
		return nil, errRange
	}
	r := &versionRange{constraints: constraints}
	if prereleases != nil {
		r.prereleases, r.identifiers = true, prereleases.Identifiers
		constraints.IncludePrerelease = true
	}
	return r, nil
}

// mismatch says why the version does not match, empty when it does.
func (r *versionRange) mismatch(version *semver.Version) string {
	if r.everything {
		return ""
	}
	if r.constraints.Check(version) && r.acceptsPrerelease(version) {
		return ""
	}
	if version.Prerelease() != "" && r.matchesBut(version) {
		return "prereleases are not accepted"
	}
	return doesNotMatch
}

// acceptsPrerelease reports whether one of the words of a prerelease is listed,
// where there is a list.
func (r *versionRange) acceptsPrerelease(version *semver.Version) bool {
	if !r.prereleases || len(r.identifiers) == 0 || version.Prerelease() == "" {
		return true
	}
	return slices.ContainsFunc(strings.Split(version.Prerelease(), "."), func(word string) bool {
		return slices.Contains(r.identifiers, word)
	})
}

// matchesBut reports whether the version would match if prereleases counted.
func (r *versionRange) matchesBut(version *semver.Version) bool {
	open := *r.constraints
	open.IncludePrerelease = true
	return open.Check(version)
}

var (
	platform = regexp.MustCompile(`^v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(.*)$`)
	// Only these are prereleases of Kubernetes; a vendor appends what it likes.
	platformPrerelease = regexp.MustCompile(`^-((?:alpha|beta|rc)\.(?:0|[1-9]\d{0,8}))(?:$|[^0-9A-Za-z])`)
)

// parsePlatform reads the version of a platform, such as Kubernetes: without
// what a vendor appended to it, which semantic versions would take for a
// prerelease. v1.31.2-gke.100 is 1.31.2, but v1.32.0-rc.1 stays what it is.
func parsePlatform(text string) (*semver.Version, error) {
	parts := platform.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return nil, fmt.Errorf("%q is no version", text)
	}
	core := parts[1] + "." + parts[2] + "."
	if parts[3] == "" {
		core += "0"
	} else {
		core += parts[3]
	}
	if prerelease := platformPrerelease.FindStringSubmatch(parts[4]); prerelease != nil {
		core += "-" + prerelease[1]
	}
	return semver.NewVersion(core)
}

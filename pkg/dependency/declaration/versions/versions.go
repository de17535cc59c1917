// Package versions reads versions of add-ons and platforms, and ranges of them.
package versions

import (
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Source is the object that reports the version of an add-on.
type Source string

// The sources, in the order in which they count.
const (
	// FromLease is the lease on which the add-on's agent reports its version.
	FromLease Source = "its agent's lease"
	// FromTemplate is the AddOnTemplate that runs on the cluster.
	FromTemplate Source = "its AddOnTemplate"
	// FromAddOn is the annotation of the ManagedClusterAddOn.
	FromAddOn Source = "its ManagedClusterAddOn"
	// FromRegistration is the annotation of the ClusterManagementAddOn.
	FromRegistration Source = "its ClusterManagementAddOn"
)

// Annotations are the keys of annotations that report a version: the current key, and the former key.
var Annotations = []string{addonv1alpha1.AddOnVersionAnnotation, addonv1alpha1.FormerVersionAnnotation}

// OCM is a value for the version of Open Cluster Management on the hub. Add-ons that are released with it use the value.
const OCM = "@ocm"

// MaxLength is the maximum length of a version in bytes.
const MaxLength = semver.MaxVersionLen

// MaxRange is the maximum length of a range of versions in characters.
const MaxRange = 256

// Version is the version of an add-on. The zero value is an unknown version.
type Version struct {
	Number string
	Source Source
	// Former is true if the annotation has its former key.
	Former bool
	// RollingOut is the version of a rollout that has begun. It is empty without a rollout, or if its version is
	// unknown.
	RollingOut string
	// OCM is true if the source has the value OCM. Number is then the version of Open Cluster Management, or
	// empty if that version is unknown.
	OCM bool
}

// Annotated has the versions in the annotations of an object.
type Annotated struct {
	// Current is the value of the current key, and Former the value of the former key.
	Current, Former string
}

// In reads the version in the annotations of an object.
func In(annotations map[string]string) Annotated {
	return Annotated{
		Current: annotations[addonv1alpha1.AddOnVersionAnnotation],
		Former:  annotations[addonv1alpha1.FormerVersionAnnotation],
	}
}

// OfTemplate returns the version of an AddOnTemplate from its annotation, or else from its label.
func OfTemplate(annotations, labels map[string]string) string {
	if version := strings.TrimSpace(annotations[addonv1alpha1.AddOnVersionAnnotation]); version != "" {
		return version
	}
	return labels[addonv1alpha1.TemplateVersionLabel]
}

// Templates describes the AddOnTemplates of an add-on on one managed cluster. The zero value
// describes an add-on without a template.
type Templates struct {
	// Name is the template that runs on the cluster. Next is another template in a rollout that has begun.
	Name string `json:"name,omitempty"`
	Next string `json:"next,omitempty"`
	// Running is the version of the template that runs on the cluster.
	Running string `json:"running,omitempty"`
	// RollingOut is the version of the template Next.
	RollingOut string `json:"rollingOut,omitempty"`
	// Unknown is true while the running version is unknown: the templates could not be read yet, or a rollout
	// has begun and OCM does not report the template before.
	Unknown bool `json:"unknown,omitempty"`
}

// Sources has the versions of an add-on on one managed cluster, by source.
type Sources struct {
	Lease, AddOn, Registration Annotated
	Template                   Templates
	// OCM is the version of Open Cluster Management on the hub. It is empty if it is unknown.
	OCM string
}

// UseOCM reports whether a source has the value OCM.
func (s Sources) UseOCM() bool {
	return slices.ContainsFunc([]string{
		s.Lease.Current, s.Template.Running, s.Template.RollingOut, s.AddOn.Current, s.Registration.Current,
		s.Lease.Former, s.AddOn.Former, s.Registration.Former,
	}, func(version string) bool { return strings.TrimSpace(version) == OCM })
}

// Running returns the version from the first source that has a version: the lease of the add-on's
// agent, its AddOnTemplate, its ManagedClusterAddOn, its ClusterManagementAddOn, and then the former keys.
// A version of blanks is ignored.
func Running(sources Sources) Version {
	for _, candidate := range []Version{
		{Number: sources.Lease.Current, Source: FromLease},
		{Number: sources.Template.Running, Source: FromTemplate, RollingOut: sources.Template.RollingOut},
		{Number: sources.AddOn.Current, Source: FromAddOn},
		{Number: sources.Registration.Current, Source: FromRegistration},
		{Number: sources.Lease.Former, Source: FromLease, Former: true},
		{Number: sources.AddOn.Former, Source: FromAddOn, Former: true},
		{Number: sources.Registration.Former, Source: FromRegistration, Former: true},
	} {
		if candidate.Number = strings.TrimSpace(candidate.Number); candidate.Number == "" {
			continue
		}
		if candidate.RollingOut = strings.TrimSpace(candidate.RollingOut); candidate.RollingOut == OCM {
			candidate.RollingOut = sources.OCM
		}
		if candidate.OCM = candidate.Number == OCM; candidate.OCM {
			candidate.Number = sources.OCM
		}
		if candidate.RollingOut == candidate.Number {
			candidate.RollingOut = ""
		}
		return candidate
	}
	return Version{}
}

// Parse parses the number. A vendor's suffix of the version of Open Cluster Management is ignored.
func (v Version) Parse() (*semver.Version, error) {
	if v.OCM {
		return ParsePlatform(v.Number)
	}
	return semver.NewVersion(v.Number)
}

// Annotation returns the key of the annotation that reports the version.
func (v Version) Annotation() string {
	if v.Former {
		return addonv1alpha1.FormerVersionAnnotation
	}
	return addonv1alpha1.AddOnVersionAnnotation
}

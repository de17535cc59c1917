// Package kind is a separate Go module that builds kind. Of kind's node image, it builds the parts that do not come
// from Debian's packages or from Kubernetes.
package kind

{{- define "interlock.labels" -}}
app.kubernetes.io/part-of: interlock
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The image of a program. A released chart has where its images are, and their digests, as annotations in Chart.yaml,
     not as values: --reuse-values would keep those of the previous release. The arguments are the root and the
     program's name. */}}
{{- define "interlock.image" -}}
{{- $annotations := .root.Chart.Annotations | default dict }}
{{- $released := index $annotations "interlock.open-cluster-management.io/image-prefix" | default "" }}
{{- $prefix := .root.Values.images.prefix | default $released }}
{{- $set := printf "set it to where your images are, such as --set images.prefix=REGISTRY/interlock-; 'make images PUSH=1 IMAGE_PREFIX=REGISTRY/interlock- VERSION=%s' builds and pushes them (docs/install.md)" .root.Chart.AppVersion }}
{{- if not $prefix }}
{{- fail (printf "images.prefix is empty, and this chart was not released with images: %s" $set) }}
{{- else if and (ne $prefix $released) (regexMatch "^(quay[.]io/open-cluster-management/interlock-$|([a-z0-9-]+[.])*example[.](com|net|org)(:[0-9]+)?/)" $prefix) }}
{{- fail (printf "images.prefix %q is a placeholder, which has no images: %s" $prefix $set) }}
{{- end }}
{{- $digest := index $annotations (printf "interlock.open-cluster-management.io/%s-digest" .program) | default "" }}
{{- if .root.Values.images.tag }}
{{- printf "%s%s:%s" $prefix .program .root.Values.images.tag }}
{{- else }}
{{- printf "%s%s:%s%s" $prefix .program .root.Chart.AppVersion (ternary (printf "@%s" $digest) "" (ne $digest "")) }}
{{- end }}
{{- end }}

{{- define "interlock.addonManagerImage" -}}
{{ include "interlock.image" (dict "root" . "program" "addon-manager") }}
{{- end }}

{{- define "interlock.agentImage" -}}
{{ .Values.agent.image | default (include "interlock.image" (dict "root" . "program" "addon-agent")) }}
{{- end }}

{{/* Annotations and labels of a pod of Interlock. Those of the chart replace others of the same name, because selectors use
     them. The arguments are the root and the chart's own labels. */}}
{{- define "interlock.podMetadata" -}}
{{- with .root.Values.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
labels:
  {{- merge .labels (dict "app.kubernetes.io/part-of" "interlock") .root.Values.podLabels | toYaml | nindent 2 }}
{{- end }}

{{/* What a pod of Interlock is allowed and where it runs, for all of them. */}}
{{- define "interlock.pod" -}}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{- define "interlock.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* The replicas of a Deployment apart from each other. Preferred, so that a hub of one node can run all of them. The
     arguments are the root and the pods' name. */}}
{{- define "interlock.apart" -}}
{{- with .root.Values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  {{- $selector := dict "labelSelector" (dict "matchLabels" (dict "app.kubernetes.io/name" $.name)) }}
  - {{- merge (deepCopy .) $selector | toYaml | nindent 4 }}
  {{- end }}
{{- end }}
affinity:
{{- with .root.Values.affinity }}
  {{- toYaml . | nindent 2 }}
{{- else }}
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              app.kubernetes.io/name: {{ $.name }}
      - weight: 50
        podAffinityTerm:
          topologyKey: topology.kubernetes.io/zone
          labelSelector:
            matchLabels:
              app.kubernetes.io/name: {{ $.name }}
{{- end }}
{{- end }}

{{- define "interlock.probes" -}}
livenessProbe:
  httpGet:
    path: /healthz
    port: probes
  initialDelaySeconds: 10
  periodSeconds: 10
readinessProbe:
  httpGet:
    path: /readyz
    port: probes
  periodSeconds: 2
  failureThreshold: 3
{{- end }}

{{/* A file of deploy/, in the release's namespace and with its labels. The arguments are the root, the file's
     content and further annotations. */}}
{{- define "interlock.object" -}}
{{- $root := .root }}
{{- $object := .content | fromYaml }}
{{- $labels := merge (include "interlock.labels" $root | fromYaml) ($object.metadata.labels | default dict) }}
{{- $_ := set $object.metadata "labels" $labels }}
{{- with .annotations }}
{{- $_ := set $object.metadata "annotations" . }}
{{- end }}
{{- if not (has $object.kind (list "ClusterRole" "ClusterRoleBinding" "ValidatingWebhookConfiguration" "MutatingWebhookConfiguration" "CustomResourceDefinition" "ClusterManagementAddOn" "AddOnTemplate" "ValidatingAdmissionPolicy" "ValidatingAdmissionPolicyBinding")) }}
{{- $_ := set $object.metadata "namespace" $root.Release.Namespace }}
{{- end }}
{{- range $object.subjects }}
{{- $_ := set . "namespace" $root.Release.Namespace }}
{{- end }}
{{- range $object.webhooks }}
{{- $_ := set .clientConfig.service "namespace" $root.Release.Namespace }}
{{- end }}
{{- with dig "spec" "matchConstraints" "namespaceSelector" "matchLabels" dict $object }}
{{- $_ := set . "kubernetes.io/metadata.name" $root.Release.Namespace }}
{{- end }}
{{ toYaml $object }}
{{- end }}

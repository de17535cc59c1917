{{- define "interlock.labels" -}}
app.kubernetes.io/part-of: interlock
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "interlock.addonManagerImage" -}}
{{ .Values.images.prefix }}addon-manager:{{ .Values.images.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "interlock.agentImage" -}}
{{ .Values.agent.image | default (printf "%saddon-agent:%s" .Values.images.prefix (.Values.images.tag | default .Chart.AppVersion)) }}
{{- end }}

{{/* What a pod of Interlock is allowed and where it runs, for all of them. */}}
{{- define "interlock.pod" -}}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.images.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
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

{{/* Preferred, so that a hub of one node can run all replicas. The argument is the pods' name. */}}
{{- define "interlock.apart" -}}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              app.kubernetes.io/name: {{ . }}
      - weight: 50
        podAffinityTerm:
          topologyKey: topology.kubernetes.io/zone
          labelSelector:
            matchLabels:
              app.kubernetes.io/name: {{ . }}
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
  periodSeconds: 5
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

{{- define "heddle.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "heddle.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "heddle.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "heddle.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "heddle.selector" -}}
app.kubernetes.io/name: {{ include "heddle.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "heddle.labels" -}}
{{ include "heddle.selector" . }}
app.kubernetes.io/part-of: heddle
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name (.root.Chart.Version | replace "+" "_") }}
{{- end -}}

{{- define "heddle.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "heddle.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "heddle.fullname" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end -}}

{{/* The user `node` of the image; nothing is written but to /tmp and to the empty data folder. */}}
{{- define "heddle.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "heddle.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* The environment of every process: the same names as in docker-compose.yml. */}}
{{- define "heddle.env" -}}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ required "database.existingSecret: name the Secret that holds the address of Postgres; this chart brings no database" .root.Values.database.existingSecret }}
      key: {{ .root.Values.database.urlKey }}
{{- with .root.Values.database.directUrlKey }}
- name: HEDDLE_DIRECT_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ $.root.Values.database.existingSecret }}
      key: {{ . }}
{{- end }}
{{- $further := .further | default (dict "secret" .root.Values.database.existingSecret "key" .root.Values.database.databasesKey) }}
{{- with $further.key }}
- name: HEDDLE_DATABASES
  valueFrom:
    secretKeyRef:
      name: {{ $further.secret }}
      key: {{ . }}
{{- end }}
{{- if .root.Values.redis.existingSecret }}
- name: REDIS_URL
  valueFrom:
    secretKeyRef:
      name: {{ .root.Values.redis.existingSecret }}
      key: {{ .root.Values.redis.urlKey }}
{{- end }}
- name: HEDDLE_PROJECT
  value: {{ .root.Values.project | quote }}
- name: HEDDLE_LOG_LEVEL
  value: {{ .root.Values.logLevel | quote }}
- name: HEDDLE_QUEUE_PREFIX
  value: {{ .root.Values.queuePrefix | quote }}
- name: HEDDLE_MODELS
  value: /models
{{- with .nodeOptions }}
- name: NODE_OPTIONS
  value: {{ . | quote }}
{{- end }}
{{- with .root.Values.env }}
{{ toYaml . }}
{{- end }}
{{- with .env }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "heddle.volumeMounts" -}}
- name: tmp
  mountPath: /tmp
- name: data
  mountPath: /data
- name: models
  mountPath: /models
  readOnly: true
{{- end -}}

{{- define "heddle.volumes" -}}
- name: tmp
  emptyDir: {}
- name: data
  emptyDir: {}
- name: models
{{- if .Values.models.existingClaim }}
  persistentVolumeClaim:
    claimName: {{ .Values.models.existingClaim }}
    readOnly: true
{{- else }}
  emptyDir: {}
{{- end }}
{{- end -}}

{{/*
A deployment. Values: root, component, values (of the component), args, port (name, number), envExtra, envFrom,
replicas (null where an autoscaler owns the number).
*/}}
{{- define "heddle.deployment" -}}
{{- $minimum := add .values.preStopSeconds 25 -}}
{{- if lt (int .values.terminationGracePeriodSeconds) (int $minimum) -}}
{{- fail (printf "%s: terminationGracePeriodSeconds must be at least preStopSeconds + 25 = %d: a process needs up to 20 s after SIGTERM to let its jobs finish or to release them" .path $minimum) -}}
{{- end -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "heddle.fullname" .root }}-{{ .component }}
  labels: {{- include "heddle.labels" . | nindent 4 }}
spec:
  {{- if not .scaled }}
  replicas: {{ .values.replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  selector:
    matchLabels: {{- include "heddle.selector" . | nindent 6 }}
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: 0
      maxSurge: 1
  template:
    metadata:
      labels:
        {{- include "heddle.labels" . | nindent 8 }}
        heddle/metrics: {{ .metrics | quote }}
      {{- with .values.podAnnotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ include "heddle.serviceAccount" .root }}
      automountServiceAccountToken: false
      enableServiceLinks: false
      {{- with .root.Values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext: {{- include "heddle.podSecurity" . | nindent 8 }}
      terminationGracePeriodSeconds: {{ .values.terminationGracePeriodSeconds }}
      {{- if .root.Values.topologySpread.enabled }}
      topologySpreadConstraints:
        {{- range .root.Values.topologySpread.keys }}
        - maxSkew: 1
          topologyKey: {{ . }}
          whenUnsatisfiable: {{ $.root.Values.topologySpread.whenUnsatisfiable }}
          labelSelector:
            matchLabels: {{- include "heddle.selector" $ | nindent 14 }}
          matchLabelKeys: [pod-template-hash]
        {{- end }}
      {{- end }}
      {{- with .values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: heddle
          image: {{ include "heddle.image" .root }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          args: {{- toYaml .args | nindent 12 }}
          env:
            {{- include "heddle.env" (dict "root" .root "nodeOptions" .values.nodeOptions "env" .values.env) | nindent 12 }}
            {{- range $name, $value := .settings }}
            - name: {{ $name }}
              value: {{ $value | quote }}
            {{- end }}
          {{- if and .usesModels .root.Values.models.existingSecret }}
          envFrom:
            - secretRef:
                name: {{ .root.Values.models.existingSecret }}
          {{- end }}
          ports:
            - name: {{ .port.name }}
              containerPort: {{ .port.number }}
          startupProbe:
            httpGet: { path: /healthz, port: {{ .port.name }} }
            periodSeconds: 2
            failureThreshold: 60
          livenessProbe:
            httpGet: { path: /healthz, port: {{ .port.name }} }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet: { path: {{ .ready }}, port: {{ .port.name }} }
            periodSeconds: 5
            timeoutSeconds: 5
            failureThreshold: 2
          lifecycle:
            preStop:
              exec:
                command: ["sleep", {{ .values.preStopSeconds | quote }}]
          resources: {{- toYaml .values.resources | nindent 12 }}
          securityContext: {{- include "heddle.containerSecurity" . | nindent 12 }}
          volumeMounts: {{- include "heddle.volumeMounts" . | nindent 12 }}
      volumes: {{- include "heddle.volumes" .root | nindent 8 }}
{{- end -}}

{{- define "heddle.disruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "heddle.fullname" .root }}-{{ .component }}
  labels: {{- include "heddle.labels" . | nindent 4 }}
spec:
  maxUnavailable: {{ .root.Values.podDisruptionBudget.maxUnavailable }}
  selector:
    matchLabels: {{- include "heddle.selector" . | nindent 6 }}
{{- end -}}

{{- define "heddle.hpa" -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ include "heddle.fullname" .root }}-{{ .component }}
  labels: {{- include "heddle.labels" . | nindent 4 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ include "heddle.fullname" .root }}-{{ .component }}
  minReplicas: {{ .values.hpa.minReplicas }}
  maxReplicas: {{ .values.hpa.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: {{ .values.hpa.cpuUtilization }}
{{- end -}}

{{- define "heddle.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "heddle.fullname" .root }}-{{ .component }}
  labels: {{- include "heddle.labels" . | nindent 4 }}
  {{- with .values.service.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .values.service.type }}
  selector: {{- include "heddle.selector" . | nindent 4 }}
  ports:
    - name: http
      port: {{ .values.service.port }}
      targetPort: http
{{- end -}}

{{/* Names under which a service is reached inside the cluster, then those of users. */}}
{{- define "heddle.hosts" -}}
{{- $name := printf "%s-%s" (include "heddle.fullname" .root) .component -}}
{{- $own := list $name (printf "%s.%s" $name .root.Release.Namespace) (printf "%s.%s.svc" $name .root.Release.Namespace) (printf "%s.%s.svc.cluster.local" $name .root.Release.Namespace) -}}
{{- join "," (concat $own .values.hosts) -}}
{{- end -}}

// The client over the queue, where @heddle/engine is installed; over HTTP it is `@heddle/client/http`.
export * from '@heddle/engine'
export * from '@heddle/sessions'

import { writeFile } from 'node:fs/promises'
import { pythonOperations, pythonOperationsPath } from './operations.js'

await writeFile(pythonOperationsPath, pythonOperations())

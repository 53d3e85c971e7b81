import { Link } from '@tanstack/react-router'
import { Empty } from '../parts/empty.js'

export function NotFound() {
  return (
    <Empty title="There is no such screen">
      <p>
        The address is not known. <Link to="/threads">Show the threads</Link>
      </p>
    </Empty>
  )
}

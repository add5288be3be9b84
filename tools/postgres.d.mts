/** Types of the PostgreSQL server for tests and benches. */
export interface PostgresServer {
  readonly connection: {
    readonly host: string
    readonly port: number
    readonly user: string
    readonly database: string
  }
  start(): Promise<void>
  kill(manner: 'crash' | 'immediate'): Promise<void>
  stop(): Promise<void>
}

export function startPostgres(
  settings?: Readonly<Record<string, string>>,
  binaries?: string | null,
): Promise<PostgresServer>

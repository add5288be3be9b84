export interface Component {
  readonly name: string
  readonly version: string
  readonly licenses?: readonly {
    readonly license?: { readonly id?: string }
    readonly expression?: string
  }[]
}

export interface Bill {
  readonly bomFormat: string
  readonly specVersion: string
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

export function shippedBill(): Promise<{
  readonly bill: Bill
  readonly installed: ReadonlySet<string>
  readonly bundled: ReadonlySet<string>
}>

export function idOf(component: { readonly name: string; readonly version: string }): string

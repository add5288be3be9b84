export function withFigures(readme: string, language: string): string

export function whatIsAlive(): string[];

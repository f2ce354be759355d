export function extensionPage(root: string): string;

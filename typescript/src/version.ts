/** The version of the package: that of package.json. */
export const version: string = "0.1.0";

/// The format of a scenario file, as data: the checker and the published schema are both made from it.
enum Format {
    /// A whole file.
    static let file = Shape.object([
        .init("$schema", .text(), "where the JSON Schema of this file is"),
        .init("title", .text(), required: true, "what is shown, in a sentence"),
        .init("group", .text(), required: true, "which part of the library it belongs to"),
        .init("source", .text(), required: true, "where the rule comes from"),
        .init("seed", .text(), "the seed of its run, unless the command line has one"),
        .init(
            "needs", .list(.text(words: Need.allCases.map(\.rawValue))),
            "what it needs of the identity provider; without it, it is skipped"),
        .init("tenant", .text(), "the tenant of the reference IdP: acme unless given"),
        .init("client", .text(), "the client id: app_demo unless given"),
        .init(
            "client_key", .flag,
            "the client is confidential: a key is made, registered, and speaks for it in every sign-in"),
        .init("idp", idp, "how the reference IdP is set before the first step"),
        .init("users", .map(user), "the people there are, by a name of the file's own"),
        .init("devices", .map(device), "the phones there are, by their id"),
        .init("steps", .list(step), required: true, "what happens, in order"),
    ])

    private static let idp = Shape.object([
        .init("tenant", .anything, "what the management API changes of the tenant"),
        .init("policy", .anything, "what it changes of the tenant's policy"),
        .init("application", .anything, "what it changes of the application"),
        .init("clock", .anything, "what its clock is set to: {mode, seconds} or {mode, at}"),
        .init("rules_off", .list(.text()), "rules that are switched off"),
    ])

    private static let user = Shape.object([
        .init("email", .text(), "the address: NAME@example.com unless given"),
        .init("settings", .anything, "what the management API changes of the user"),
    ])

    private static let device = Shape.object([
        .init("platform", .text(words: ["ios", "android"]), "what it poses as: ios unless given"),
        .init("clock", clock, "what it believes the time is"),
        .init("scans", .list(.text()), "what its camera sees, in order"),
        .init("default_scan", .text(), "what its camera sees when nothing is queued: match unless given"),
        .init("face_of", .text(), "the phone whose holder holds this one as well"),
        .init("attestation", .anything, "what its platform says about it"),
        .init("enrolled", .either([.text(), .list(.text())]), "the users enrolled on it before the first step"),
    ])

    private static let clock = Shape.form(
        "a clock such as real, +90s or @1790000000", pattern: "real|[+-][0-9]+[smhd]|@[0-9]+")

    /// One step.
    static let step = Shape.object(
        [
            .init("name", .text(), "what the step is for"),
            .init("times", .number(1...1000), "how often it is done: once unless given"),
        ] + Verbs.all + [.init("expect", Expectations.shape, "what must come of it, each time")])
}

/// What a scenario may need of an identity provider.
enum Need: String, CaseIterable, Sendable {
    /// The reference IdP itself: its management, its findings, its rules.
    case reference
    /// A resource API.
    case api
}

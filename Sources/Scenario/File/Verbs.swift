/// What a step can do, as data: each step does exactly one of these.
enum Verbs {
    /// Every verb.
    static let all = alone + [.init("parallel", .list(part), "several steps at once, each with what it expects")]

    /// What can be done at the same time as others: everything but doing several things at once.
    private static let part = Shape.object(
        [.init("name", .text(), "what the step is for")] + alone
            + [.init("expect", Expectations.shape, "what must come of it")])

    private static let alone: [Shape.Key] = phone + world

    private static let phone: [Shape.Key] = [
        .init("signin", signIn, "a phone signs its user in"),
        .init(
            "enrol",
            of(
                .init("user", .text(), "the user, who gets a new ticket"),
                .init("ticket", .text(), "a ticket as it is"), .init("issuer", .text(), "another issuer"),
                .init("attestation_defect", .text(), "what is wrong with the evidence")),
            "a phone is enrolled for a user"),
        .init(
            "signup",
            of(
                .init("email", .text(), required: true, "the address"),
                .init("code", .text(), "a code as it is, in place of the one that was mailed")),
            "somebody signs up on a phone, with the code that is mailed"),
        .init("fetch", fetch, "a phone calls an API with its session"),
        .init(
            "refresh", of(.init("faults", .list(.anything), "the faults of this call")), "a phone renews its session"),
        .init("signout", of(), "a phone signs out"),
        .init("retry", of(), "the phone's last sign-in, which is parked, is sent again"),
        .init("cancel", of(), "the phone's last sign-in is cancelled"),
        .init(
            "scan", of(.init("outcome", .text(), required: true, "what the camera sees")),
            "a waiting camera sees something"),
        .init("wait", of(.init("until", .text(), "the state to wait for")), "waits for the phone's last sign-in"),
        .init(
            "life",
            of(
                .init("event", .text(), required: true, "what happens to it"),
                .init("as", .text(), "the new phone's id")),
            "something happens to a phone"),
    ]

    private static let world: [Shape.Key] = [
        .init(
            "advance",
            .object([
                .init("who", .text(), required: true, "world, idp, or the id of a phone"),
                .init("by", span, required: true, "how far; back with a minus"),
            ]), "a clock is moved"),
        .init("fault", .anything, "a fault of the world is armed"),
        .init("clear_faults", .flag, "no fault is armed any more"),
        .init(
            "manage",
            call("behind /manage, such as /tenants/{tenant}/users/{user:ada}"),
            "a call of the reference IdP's management API"),
        .init("control", call("such as /v1/devices/phone"), "a call of the control API"),
        .init(
            "reset", .object([.init("scope", .text(), required: true, "what is put back")]),
            "the world, or a part of it, is put back"),
        .init("snapshot", name("the snapshot's name"), "the world is saved"),
        .init("restore", name("the snapshot's name"), "the world is put back to what was saved"),
    ]

    private static let signIn = Shape.object([
        .init("device", .text(), required: true, "the phone"),
        .init("user", .text(), "whom the login hint names: a user of the file"),
        .init("login_hint", .text(), "the login hint as it is"),
        .init("system", .text(), "sensecrypt unless given"),
        .init("issuer", .text(), "the issuer, unless it is the tenant's"),
        .init("client", .text(), "the client id, unless it is the file's"),
        .init("scopes", .list(.text()), "the scopes"),
        .init("resource", .either([.flag, .text()]), "true for the tenant's API, or an audience as it is"),
        .init("scans", .list(.text()), "what the camera sees during this sign-in"),
        .init("faults", .list(.anything), "the faults of this sign-in"),
        .init("pki", .anything, "the key operation that runs with the scan"),
        .init("attestation_defect", .text(), "what is wrong with the evidence"),
        .init("client_attestation", .anything, "how the client attests itself"),
        .init("client_attestation_defect", .text(), "what is wrong with the client's attestation"),
        .init("client_assertion_provider", .anything, "who speaks for a confidential client"),
        .init("redirect_uri", .text(), "the redirect URI, at a standard authorization server"),
        .init("browser", .flag, "whether a browser goes the way of the sign-in"),
        .init("until", .text(), "the state to wait for, where it is not the end"),
    ])

    private static let fetch = Shape.object([
        .init("device", .text(), required: true, "the phone"),
        .init("url", .text(), "an address as it is: {api}/accounts unless given"),
        .init("method", .text(), "the method"),
        .init("headers", .list(.list(.text())), "pairs of name and value"),
        .init("body", .text(), "the body"),
        .init("one_shot", .flag, "whether the body can be sent only once"),
        .init("faults", .list(.anything), "the faults of this call"),
    ])

    private static let span = Shape.form("a span of time such as 90s or -2h", pattern: "[+-]?[0-9]+[smhd]")

    private static func of(_ keys: Shape.Key...) -> Shape {
        .object([.init("device", .text(), required: true, "the phone")] + keys)
    }

    private static func name(_ help: String) -> Shape { .object([.init("name", .text(), required: true, help)]) }

    private static func call(_ path: String) -> Shape {
        .object([
            .init("method", .text(words: ["GET", "POST", "PUT", "PATCH", "DELETE"]), required: true, "the method"),
            .init("path", .text(), required: true, path), .init("body", .anything, "the body"),
        ])
    }
}

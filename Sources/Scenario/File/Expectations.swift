/// What a step may be expected to come to, as data.
enum Expectations {
    /// The value of `expect`.
    static let shape = Shape.object([
        .init("result", .text(words: ["signed_in", "failed", "parked"]), "how the sign-in ended"),
        .init("state", .text(), "the state it is in"),
        .init("reason", .text(), "why it failed"),
        .init("cause", .text(), "why it is parked"),
        .init("message", .text(), "a part of the message"),
        .init("status", .number(100...599), "the status that came back"),
        .init("error", .text(), "the code of the refusal"),
        .init("accepted", .flag, "true where a server is expected to accept what is wrong on purpose"),
        .init("calls", .map(.number(0...1000)), "every call the step made and how often; discovery may be left out"),
        .init(
            "answers", .map(.list(.either([.number(100...599), .nothing]))), "a call's statuses; null for no answer"),
        .init(
            "errors", .map(.list(.either([.text(), .nothing]))), "the OAuth errors of a call, in order; null for none"),
        .init("requests", .map(.number(0...1000)), "how many requests went to a path that ends so"),
        .init("scans", .number(0...1000), "how many scans there were"),
        .init("faults", .list(.text()), "the faults that took place, in order, as the journal names them"),
        .init("findings", .list(finding), "findings of the reference IdP, in order among others; [] for none at all"),
        .init("journal", .list(.map(.anything)), "entries of the journal, in order among others, with these members"),
        .init("same_proof", .flag, "whether every completion of the sign-in carried the same ceremony proof"),
        .init("stored", stored, "what the phone holds afterwards"),
        .init("body", .anything, "members the answer must have"),
    ])

    private static let finding = Shape.either([
        .text(),
        .object([
            .init("rule", .text(), required: true, "the rule's dotted name"),
            .init("expected", .text(), "what it wanted"), .init("actual", .text(), "what came"),
            .init("endpoint", .text(), "the endpoint it was found at"),
        ]),
    ])

    private static let stored = Shape.object([
        .init("session", .flag, "whether there is a session"),
        .init("can_refresh", .flag, "whether it has a refresh token"),
        .init("enrolments", .number(0...100), "how many enrolments there are"),
        .init("generation", .number(1...1000), "the face token's generation at the IdP"),
    ])
}

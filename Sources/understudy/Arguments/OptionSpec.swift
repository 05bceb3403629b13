/// One option: its name, what its value looks like, and the line of help it gets.
///
/// Reading, checking, defaults and help all come from this one description, so that none of them can
/// disagree with another.
struct OptionSpec: Sendable {
    /// The long name, without the two dashes.
    let name: String
    /// A single-letter name besides.
    var letter: Character?
    /// What the value is called in help; nil for a switch, which takes none.
    var value: String?
    /// How a value must look.
    var form: ValueForm = .text
    /// Whether the option may be given more than once.
    var repeats = false
    /// Whether the command refuses to run without it.
    var required = false
    /// The environment variable that stands in for it; a repeatable option's values are divided by commas there.
    var environment: String?
    /// What it is when nobody says, in the words of the help.
    var standard: String?
    /// One line of help.
    let help: String

    /// A switch: given or not.
    static func flag(_ name: String, letter: Character? = nil, help: String) -> OptionSpec {
        OptionSpec(name: name, letter: letter, help: help)
    }

    /// An option with one value.
    static func one(
        _ name: String, _ value: String, letter: Character? = nil, form: ValueForm = .text, required: Bool = false,
        environment: String? = nil, standard: String? = nil, help: String
    ) -> OptionSpec {
        OptionSpec(
            name: name, letter: letter, value: value, form: form, required: required, environment: environment,
            standard: standard, help: help)
    }

    /// An option that may be given again and again.
    static func many(
        _ name: String, _ value: String, letter: Character? = nil, form: ValueForm = .text,
        environment: String? = nil, standard: String? = nil, help: String
    ) -> OptionSpec {
        OptionSpec(
            name: name, letter: letter, value: value, form: form, repeats: true, environment: environment,
            standard: standard, help: help)
    }

    /// The option as a usage line writes it, such as `--device D`.
    var usage: String { "--\(name)" + (value.map { " \($0)" } ?? "") }
}

/// How the value of an option must look.
enum ValueForm: Sendable, Equatable {
    /// Any text but the empty one.
    case text
    /// Any text.
    case anything
    /// A whole number within bounds.
    case number(ClosedRange<Int64>)
    /// One of these words.
    case choice([String])

    /// A TCP port, 0 for one the system picks.
    static let port = ValueForm.number(0...65535)

    /// The rule a value breaks, as the rest of a sentence beginning with the value; nil where it fits.
    func rule(brokenBy value: String) -> String? {
        switch self {
        case .anything:
            nil
        case .text:
            value.isEmpty ? "must not be empty" : nil
        case .number(let bounds):
            Int64(value).map(bounds.contains) == true
                ? nil : "must be a whole number from \(bounds.lowerBound) to \(bounds.upperBound)"
        case .choice(let words):
            words.contains(value) ? nil : "must be one of " + words.joined(separator: ", ")
        }
    }
}

/// One plain argument of a command, such as the URL of `fetch`.
struct ArgumentSpec: Sendable {
    /// What it is called in help.
    let name: String
    /// Whether it may be left out.
    var optional = false
    /// Whether it takes all that follow.
    var repeats = false
    /// One line of help.
    let help: String

    /// The argument as a usage line writes it.
    var usage: String {
        let text = repeats ? "\(name)..." : name
        return optional ? "[\(text)]" : text
    }
}

import Device
import Encoding

/// A phone's attestation on the command line: `NAME=VALUE` settings, and what is wrong on purpose.
enum AttestationOptions {
    /// What is wrong with the evidence of one sign-in or enrolment.
    static let defect = OptionSpec.one(
        "attest-defect", "X", form: .choice(AttestationDefect.allCases.map(\.rawValue)),
        help: "what is wrong on purpose with the evidence about the app")

    /// What the names are.
    static let note = """
        settings: \(AttestationSettings().json.object?.names.filter { $0 != "app" }.joined(separator: ", ") ?? ""), \
        \(AppIdentity().json.object?.names.map { "app.\($0)" }.joined(separator: ", ") ?? "")
        """

    /// `NAME=VALUE` as members: a number, `true` and `false` are what they look like, commas make a list of verdicts.
    ///
    /// Nil where there is nothing; `option` is what they came by, for the error.
    static func settings(_ list: [String], option: String) throws(CommandFailure) -> JSON? {
        guard !list.isEmpty else { return nil }
        var (settings, app) = (JSONObject(), JSONObject())
        for text in list {
            guard let equals = text.firstIndex(of: "=") else {
                throw .badValue(option, "'\(text)' is not NAME=VALUE")
            }
            let (name, value) = (String(text[..<equals]), String(text[text.index(after: equals)...]))
            if name.hasPrefix("app.") {
                let member = String(name.dropFirst(4))
                app[member] = member == "version" ? number(value) : .string(value)
            } else if name == "device_verdicts" {
                settings[name] = .array(value.split(separator: ",").map { .string(String($0)) })
            } else {
                settings[name] = value == "true" ? true : value == "false" ? false : number(value)
            }
        }
        if app.count > 0 { settings["app"] = .object(app) }
        return .object(settings)
    }

    private static func number(_ text: String) -> JSON { Int64(text).map { .int($0) } ?? .string(text) }

    /// The settings that are not a genuine phone's, one a pair; `all` shows every one.
    static func shown(_ settings: JSON?, all: Bool) -> [(String, String)] {
        guard let object = settings?.object else { return [] }
        let genuine = AttestationSettings().json
        var pairs: [(String, String)] = []
        for member in object.members where member.name != "app" && (all || member.value != genuine[member.name]) {
            let list = member.value.array?.map(\.shown).joined(separator: ",")
            pairs.append((member.name, list ?? member.value.shown))
        }
        for member in object["app"]?.object?.members ?? []
        where all || member.value != genuine["app"]?[member.name] {
            pairs.append(("app.\(member.name)", member.value.shown))
        }
        return pairs
    }
}

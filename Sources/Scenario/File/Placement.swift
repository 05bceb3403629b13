import Encoding

/// Rules of a file that a shape cannot say: one verb a step, and names that are declared.
struct Placement {
    /// The words of which a step has exactly one.
    static let verbs = Set(Verbs.all.map(\.name))

    private let root: JSON5Value
    private let file: String
    private let users: [String]
    private let devices: [String]

    init(_ root: JSON5Value, file: String) {
        self.root = root
        self.file = file
        users = (root["users"]?.members ?? []).map(\.name)
        devices = (root["devices"]?.members ?? []).map(\.name) + Self.laterDevices(root)
    }

    /// Every fault.
    func faults() -> [FileFault] {
        let enrolled = (root["devices"]?.members ?? []).flatMap { device -> [JSON5Value] in
            let enrolled = device.value["enrolled"]
            return enrolled?.elements ?? enrolled.map { [$0] } ?? []
        }
        let empty =
            root["steps"]?.elements?.isEmpty == true
            ? root["steps"].map { [fault($0, "steps must not be empty")] } : nil
        return (empty ?? []) + enrolled.flatMap { undeclared($0, among: users, "user") }
            + (root["steps"]?.elements ?? []).flatMap(faults(of:))
    }

    private func faults(of step: JSON5Value) -> [FileFault] {
        guard let members = step.members else { return [] }
        let found = members.filter { Self.verbs.contains($0.name) }
        guard found.count == 1, let verb = found.first else {
            let what = found.isEmpty ? "none" : found.map(\.name).joined(separator: " and ")
            return [fault(step, "a step does exactly one thing, and here stands \(what)")]
        }
        if verb.name == "parallel" { return inParallel(verb.value, step) }
        var faults = undeclared(verb.value["user"], among: users, "user")
        faults += undeclared(verb.value["device"], among: devices, "phone")
        if verb.name == "advance" {
            faults += undeclared(verb.value["who"], among: devices + ["world", "idp"], "clock")
        }
        if verb.name == "enrol", verb.value["user"] == nil, verb.value["ticket"] == nil {
            faults.append(fault(verb.value, "enrol needs 'user' or 'ticket'"))
        }
        return faults
    }

    private func inParallel(_ parts: JSON5Value, _ step: JSON5Value) -> [FileFault] {
        var faults = (parts.elements ?? []).flatMap(faults(of:))
        if parts.elements?.isEmpty == true { faults.append(fault(parts, "parallel must not be empty")) }
        if let expect = step["expect"] {
            faults.append(fault(expect, "what is expected of steps at once stands in each of them"))
        }
        return faults
    }

    private func undeclared(_ value: JSON5Value?, among names: [String], _ what: String) -> [FileFault] {
        guard let value, let name = value.string, !names.contains(name) else { return [] }
        let hint = Nearest.match(name, among: names).map { "; did you mean '\($0)'?" } ?? ""
        return [fault(value, "there is no \(what) '\(name.prefix(80))' in this file\(hint)")]
    }

    private func fault(_ value: JSON5Value, _ message: String) -> FileFault {
        FileFault(file: file, place: value.place, message: message)
    }

    /// The phones that come into being on the way: a restored or cloned one, or one that a step makes.
    private static func laterDevices(_ root: JSON5Value) -> [String] {
        let steps = root["steps"]?.elements ?? []
        return (steps + steps.flatMap { $0["parallel"]?.elements ?? [] }).compactMap { step in
            (step["life"]?["as"] ?? step["control"]?["body"]?["id"])?.string
        }
    }
}

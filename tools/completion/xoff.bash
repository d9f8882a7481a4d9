# Completion of xoff for bash: verbs, options and scenario files.

_xoff() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local verb="" verbs word options

    # The program itself knows its verbs.
    verbs=$("${COMP_WORDS[0]}" --help 2>/dev/null | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p' | tr '\n' ' ')

    COMPREPLY=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        if [[ " $verbs " == *" $word "* ]]; then
            verb=$word
            break
        fi
    done

    case $prev in
    -o | --output)
        if [[ $verb == bench || $verb == report ]]; then
            _xoff_fill "$(compgen -f -- "$cur")"
        else
            _xoff_fill "$(compgen -d -- "$cur")"
        fi
        compopt -o filenames 2>/dev/null
        return
        ;;
    --set | --seed | --seeds | --jobs | --until | --max-seeds | --share | --variant | --memory | --capture*)
        return
        ;;
    --compat)
        _xoff_fill "$(compgen -W "ns3" -- "$cur")"
        return
        ;;
    -d | --device | -s | --suite | -t | --test | --explain)
        [[ $verb == conform ]] || return
        _xoff_fill "$(compgen -W "$(_xoff_conform "$prev")" -- "$cur")"
        return
        ;;
    --pcap)
        _xoff_fill "$(compgen -f -- "$cur")"
        compopt -o filenames 2>/dev/null
        return
        ;;
    -e | --evidence)
        _xoff_fill "$(compgen -d -- "$cur")"
        compopt -o filenames 2>/dev/null
        return
        ;;
    --only)
        _xoff_fill "$(compgen -W "pause pfc cc-update mac-control cnm cn-tag bcn rrt rate-tag notice lldp
            ipv4 udp tcp roce aeth cnp hpcc ctlos malformed" -- "$cur")"
        return
        ;;
    --write)
        [[ $verb == run ]] || return
        _xoff_fill "$(compgen -W "hpcc conweave none" -- "$cur")"
        return
        ;;
    --threads)
        _xoff_fill "$(compgen -W "1 2 4 8" -- "$cur")"
        return
        ;;
    esac

    if [[ -z $verb && $cur != -* ]]; then
        _xoff_fill "$(compgen -W "$verbs" -- "$cur")"
        return
    fi
    # The program itself knows the options of each verb.
    if [[ $cur == -* ]]; then
        options=$("${COMP_WORDS[0]}" $verb --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*')
        _xoff_fill "$(compgen -W "$options" -- "$cur")"
        return
    fi
    case $verb in
    convert)
        _xoff_fill "$(
            compgen -W "hpcc" -- "$cur"
            compgen -f -X '!*.txt' -- "$cur"
            compgen -d -- "$cur"
        )"
        compopt -o filenames 2>/dev/null
        ;;
    decode)
        _xoff_fill "$(
            compgen -f -X '!*.@(pcap|pcapng|txt|hex)' -- "$cur"
            compgen -d -- "$cur"
        )"
        compopt -o filenames 2>/dev/null
        ;;
    encode)
        # Kinds stand at the end of the help, each with what it is.
        options=$("${COMP_WORDS[0]}" encode --help 2>/dev/null | sed -n 's/^  \([a-z-]*\): .*/\1/p')
        _xoff_fill "$(compgen -W "$options" -- "$cur")"
        ;;
    reproduce)
        # Papers of the current folder, and those that came with the program.
        options=$(ls -d papers/*/ "$(dirname "$(command -v "${COMP_WORDS[0]}")")"/../share/xoff/papers/*/ \
            2>/dev/null | sed -n 's,/$,,; s,.*/,,p' | sort -u)
        _xoff_fill "$(compgen -W "$options" -- "$cur")"
        ;;
    report | explain)
        _xoff_fill "$(
            compgen -f -X '!*.sqlite' -- "$cur"
            compgen -d -- "$cur"
        )"
        compopt -o filenames 2>/dev/null
        ;;
    run | check | topology | sweep)
        # Folders are candidates too: they contain scenario files.
        _xoff_fill "$(
            compgen -f -X '!*.@(yaml|txt)' -- "$cur"
            compgen -d -- "$cur"
        )"
        compopt -o filenames 2>/dev/null
        ;;
    esac
}

# What xoff conform --list names: tests, then an empty line, then devices.
_xoff_conform() {
    local list
    list=$("${COMP_WORDS[0]}" conform --list 2>/dev/null)
    case $1 in
    -d | --device) awk '/^$/ { devices = 1; next } devices { print $1 }' <<<"$list" ;;
    -s | --suite) echo pfc ets cn dcbx ;;
    *) awk '/^$/ { exit } { print $1 }' <<<"$list" ;;
    esac
}

# One candidate per line, so that names with spaces stay whole.
_xoff_fill() {
    local line
    while IFS= read -r line; do
        [[ -z $line ]] || COMPREPLY+=("$line")
    done <<<"$1"
}

complete -F _xoff xoff

-- Steadfast in Neovim, 0.7 or newer: copy this file to ~/.config/nvim/plugin/steadfast.lua.
-- `steadfast` must be on the PATH, or vim.g.steadfast_path must name it.

local group = vim.api.nvim_create_augroup("steadfast", {})

vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  group = group,
  pattern = "*.design",
  callback = function()
    vim.bo.filetype = "steadfast"
  end,
})

local client

local function attached(_, buffer)
  local function key(keys, action)
    vim.keymap.set("n", keys, action, { buffer = buffer, silent = true })
  end
  key("K", vim.lsp.buf.hover)
  key("gd", vim.lsp.buf.definition)
  key("gr", vim.lsp.buf.references)
  key("<leader>rn", vim.lsp.buf.rename)
  key("<leader>ca", vim.lsp.buf.code_action)
  key("<leader>cl", vim.lsp.codelens.run)
  key("<leader>f", vim.lsp.buf.format or vim.lsp.buf.formatting)
  vim.bo[buffer].omnifunc = "v:lua.vim.lsp.omnifunc"
  -- the verdict on each goal is a code lens
  vim.api.nvim_create_autocmd({ "BufEnter", "BufWritePost", "CursorHold" }, {
    group = group,
    buffer = buffer,
    callback = function()
      vim.lsp.codelens.refresh()
    end,
  })
end

vim.api.nvim_create_autocmd("FileType", {
  group = group,
  pattern = "steadfast",
  callback = function(event)
    vim.bo.commentstring = "// %s"
    if not client or not vim.lsp.get_client_by_id(client) then
      client = vim.lsp.start_client({
        name = "steadfast",
        cmd = { vim.g.steadfast_path or "steadfast", "lsp" },
        root_dir = vim.fn.getcwd(),
        on_attach = attached,
      })
    end
    if client then
      vim.lsp.buf_attach_client(event.buf, client)
    end
  end,
})
